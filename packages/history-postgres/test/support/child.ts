import fs from "node:fs";
import { PostgresHistoryStore } from "../../src/index.ts";

/** What a child process is told on its command line. */
export interface ChildTask {
  readonly connectionString: string;
  readonly schema: string;
  readonly name: string;
  /** How many appends of 4 records are sent at once. */
  readonly appends: number;
}

const task: ChildTask = JSON.parse(process.argv[2] ?? "");
const { connectionString, schema, name, appends } = task;
const store = new PostgresHistoryStore({ connectionString }, { schema, prepare: false, timeoutMs: 60_000 });

// All of them begin together: whoever waits for this is ready.
fs.writeSync(1, "ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdin.destroy();

const key = { owner: "owner-1", source: "main", session: "shared" };
await Promise.all(
  Array.from({ length: appends }, (_, turn) =>
    store.append(
      key,
      Array.from({ length: 4 }, (_none, index) => ({ id: `${name}-${turn}-${index}`, data: "{}" })),
    ),
  ),
);
await store.close();
