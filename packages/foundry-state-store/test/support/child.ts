import fs from "node:fs";
import { isAgentFrameworkError } from "@agentfw/core";
import { LocalStateStore } from "../../src/index.ts";

/** What a child process is told on its command line. */
export interface ChildTask {
  readonly job: "count" | "write";
  readonly directory: string;
  readonly name: string;
  readonly times?: number;
}

const task: ChildTask = JSON.parse(process.argv[2] ?? "");
const store = await LocalStateStore.getOrCreate("shared", { directory: task.directory, timeoutMs: 60_000 });

/** Adds one to a counter, as often as asked, each time only if nobody else did. */
async function count(): Promise<void> {
  for (let done = 0; done < (task.times ?? 1); ) {
    const item = await store.getItem("counter");
    const value = { count: Number(item?.value["count"] ?? 0) + 1 };
    try {
      await (item === undefined
        ? store.createItem("counter", value)
        : store.setItem("counter", value, { ifMatch: item.etag }));
      done += 1;
    } catch (error) {
      if (!isAgentFrameworkError(error, "conflict")) {
        throw error;
      }
    }
  }
}

/** Writes one item after another, and tells each one that was acknowledged. */
async function write(): Promise<void> {
  for (let number = 0; ; number += 1) {
    await store.setItem(`${task.name}-${number}`, { number, filler: "x".repeat(20_000) });
    // Reaches the parent even if the process is killed right afterwards.
    fs.writeSync(1, `${task.name}-${number}\n`);
  }
}

await (task.job === "count" ? count() : write());
