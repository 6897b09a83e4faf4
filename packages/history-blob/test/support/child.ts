import fs from "node:fs";
import { BlobHistoryStore, type BlobHistoryStoreOptions } from "../../src/index.ts";

/** What a child process is told on its command line. */
export interface ChildTask {
  readonly connectionString: string;
  readonly containerName: string;
  readonly options: BlobHistoryStoreOptions;
  readonly name: string;
  /** How many turns of 3 records are appended, one after another. */
  readonly turns: number;
  /** The first record of each turn is about so large. */
  readonly recordBytes?: number;
  /** Clears the conversation when all of that is done. */
  readonly clears?: boolean;
}

const task: ChildTask = JSON.parse(process.argv[2] ?? "");
const { connectionString, containerName, options, name, turns, recordBytes = 0, clears = false } = task;
const store = new BlobHistoryStore({ connectionString, containerName }, options);

// All of them begin together: whoever waits for this is ready.
fs.writeSync(1, "ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdin.destroy();

const key = { owner: "owner-1", source: "main", session: "shared" };
for (let turn = 0; turn < turns; turn += 1) {
  const large = JSON.stringify("x".repeat(recordBytes));
  const records = Array.from({ length: 3 }, (_none, index) => ({
    id: `${name}-${turn}-${index}`,
    data: index === 0 ? large : "{}",
  }));
  const { appended } = await store.append(key, records);
  if (appended !== 3) {
    fs.writeSync(2, `${name}-${turn}: ${appended} appended\n`);
    process.exitCode = 2;
  }
}
if (clears) {
  await store.clear(key);
}
await store.close();
