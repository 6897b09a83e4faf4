import fs from "node:fs";
import { isAgentFrameworkError } from "@agentfw/core";
import { FileHistoryStore } from "../../src/index.ts";

/** What a child process is told on its command line. */
export interface ChildTask {
  readonly job: "append" | "count" | "compact" | "hold-lock" | "hold-replace";
  readonly directory: string;
  readonly name: string;
  readonly fsync?: boolean;
  readonly times?: number;
}

const KEY = { owner: "owner-1", source: "main", session: "session-1" };

const task: ChildTask = JSON.parse(process.argv[2] ?? "");
const store = new FileHistoryStore({ directory: task.directory, fsync: task.fsync ?? false, timeoutMs: 60_000 });

/** Reaches the parent even if the process is killed right afterwards. */
function tell(text: string): void {
  fs.writeSync(1, `${text}\n`);
}

function record(id: string): { id: string; data: string } {
  return { id, data: JSON.stringify({ id, filler: "x".repeat(200 + (id.length % 7) * 300) }) };
}

/** Appends turns of three records, and tells each one that was acknowledged. */
async function append(): Promise<void> {
  for (let turn = 0; turn < (task.times ?? Number.POSITIVE_INFINITY); turn += 1) {
    const id = `${task.name}-${turn}`;
    const { appended } = await store.append(KEY, [record(`${id}-0`), record(`${id}-1`), record(`${id}-2`)]);
    tell(`${id} ${appended}`);
  }
}

/** Adds one to the newest record, as often as asked, each time only if nobody else did. */
async function count(): Promise<void> {
  for (let done = 0; done < (task.times ?? 1); ) {
    const { records, version } = await store.read(KEY, { last: 1 });
    const value = Number(JSON.parse(records[0]?.data ?? "0")) + 1;
    try {
      await store.append(KEY, [{ id: `${task.name}-${done}`, data: String(value) }], { ifVersion: version });
      done += 1;
    } catch (error) {
      if (!isAgentFrameworkError(error, "conflict")) {
        throw error;
      }
    }
  }
}

/** Replaces the oldest records by a summary, again and again. */
async function compact(): Promise<void> {
  for (let round = 0; round < (task.times ?? 1); round += 1) {
    const { records } = await store.read(KEY);
    const [from, through] = [records[0], records[Math.floor(records.length / 2)]];
    if (from !== undefined && through !== undefined) {
      const count = records
        .slice(0, Math.floor(records.length / 2) + 1)
        .reduce((sum, one) => sum + weight(one.data), 0);
      const summary = { id: `${task.name}-${round}`, data: JSON.stringify({ summarized: count }) };
      await store.replace(KEY, { fromId: from.id, throughId: through.id }, [summary]);
      tell(`replaced ${round}`);
    }
  }
}

function weight(data: string): number {
  return Number(JSON.parse(data).summarized ?? 1);
}

/** Takes the lock and stops in the middle of its write, after a part of the line or of the new file. */
function stopInside(call: "write" | "rename"): void {
  const write = fs.write;
  const isLine = (bytes: unknown) => Buffer.isBuffer(bytes) && bytes.includes('"turn"');
  const stop = () => {
    tell("holding");
    setInterval(() => undefined, 1000);
  };
  if (call === "rename") {
    Object.assign(fs, { rename: stop });
    return;
  }
  Object.assign(fs, {
    write(descriptor: number, bytes: Buffer, ...rest: unknown[]) {
      if (!isLine(bytes)) {
        Reflect.apply(write, fs, [descriptor, bytes, ...rest]);
        return;
      }
      fs.writeSync(descriptor, bytes, 0, 20, null);
      stop();
    },
  });
}

async function run(): Promise<void> {
  switch (task.job) {
    case "append":
      return append();
    case "count":
      return count();
    case "compact":
      return compact();
    case "hold-lock":
      stopInside("write");
      await store.append(KEY, [record(task.name)]);
      return;
    case "hold-replace": {
      const { records } = await store.read(KEY, { last: 1 });
      stopInside("rename");
      const id = records[0]?.id ?? "";
      await store.replace(KEY, { fromId: id, throughId: id }, [record(task.name)]);
      return;
    }
  }
}

await run();
await store.close();
