import fs from "node:fs";
import { Cluster } from "ioredis";
import { RedisHistoryStore } from "../../src/index.ts";

/** What a child process is told on its command line. */
export interface ChildTask {
  readonly keyPrefix: string;
  /** One for a single node, several for a cluster. */
  readonly urls: readonly string[];
  /** Begins every id. */
  readonly name: string;
  /** How many turns of two records. */
  readonly times: number;
  /** How many of them at once. */
  readonly atOnce: number;
  readonly maxRecords?: number | undefined;
}

const KEY = { owner: "alice", source: "main", session: "shared" };

const task: ChildTask = JSON.parse(process.argv[2] ?? "");
const [url = "", ...others] = task.urls;
const cluster = others.length === 0 ? undefined : new Cluster(task.urls.map((text) => addressOf(text)));
const store = new RedisHistoryStore(cluster === undefined ? { url } : { client: cluster }, {
  keyPrefix: task.keyPrefix,
  maxRecords: task.maxRecords,
  timeoutMs: 60_000,
});

function addressOf(text: string): { host: string; port: number } {
  const { hostname, port } = new URL(text);
  return { host: hostname, port: Number(port) };
}

/** Reaches the parent even if the process is killed right afterwards. */
function tell(text: string): void {
  fs.writeSync(1, `${text}\n`);
}

/** Stores one turn and tells it when it was acknowledged. */
async function appendTurn(turn: number): Promise<void> {
  const id = `${task.name}-${turn}`;
  const records = ["user", "assistant"].map((role) => ({ id: `${id}/${role}`, data: JSON.stringify({ role, turn }) }));
  await store.append(KEY, records);
  tell(id);
}

for (let turn = 0; turn < task.times; turn += task.atOnce) {
  await Promise.all(Array.from({ length: task.atOnce }, (_, index) => appendTurn(turn + index)));
}
await store.close();
cluster?.disconnect();
