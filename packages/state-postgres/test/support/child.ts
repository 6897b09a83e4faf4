import fs from "node:fs";
import { isAgentFrameworkError, SessionStore } from "@agentfw/core";
import { PostgresStateStore } from "../../src/index.ts";

/** What a child process is told on its command line. */
export interface ChildTask {
  /** Take each of the names once; add one to the count of a session; write under one etag. */
  readonly job: "create" | "increment" | "compare-and-set";
  readonly connectionString: string;
  readonly schema: string;
  readonly name: string;
  readonly times: number;
}

const SCOPE = { owner: "alice", attempts: 10_000 };

const task: ChildTask = JSON.parse(process.argv[2] ?? "");
const { connectionString, schema } = task;
const store = new PostgresStateStore({ connectionString }, { schema, prepare: false, timeoutMs: 60_000 });

// All of them begin together: whoever waits for this is ready.
fs.writeSync(1, "ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));
process.stdin.destroy();

/** Tells nothing more than who won: the items hold the names of their writers. */
async function unlessConflict(call: Promise<unknown>): Promise<void> {
  await call.catch((error) => {
    if (!isAgentFrameworkError(error, "conflict")) {
      throw error;
    }
  });
}

async function create(): Promise<void> {
  const text = JSON.stringify({ by: task.name });
  const turns = Array.from({ length: task.times }, (_, turn) => turn);
  await Promise.all(
    turns.map((turn) =>
      unlessConflict(store.create(`item-${turn}`, text, { owner: "alice", tags: { by: task.name } })),
    ),
  );
}

async function increment(): Promise<void> {
  const sessions = new SessionStore(store, { timeoutMs: 60_000 });
  for (let turn = 0; turn < task.times; turn += 1) {
    await sessions.update("shared", SCOPE, (session) => {
      session.state["count"] = Number(session.state["count"]) + 1;
    });
  }
}

/** Each round is won by one process, which notes its name; all others go on to the next one. */
async function compareAndSet(): Promise<void> {
  for (let turn = 0; turn < task.times; ) {
    const item = await store.get("rounds");
    const winners: string[] = JSON.parse(item?.text ?? "").winners;
    turn = winners.length;
    if (turn < task.times) {
      const text = JSON.stringify({ winners: [...winners, task.name] });
      await unlessConflict(store.set("rounds", text, { ifMatch: item?.etag }));
    }
  }
}

await { create, increment, "compare-and-set": compareAndSet }[task.job]();
await store.close();
