import fs from "node:fs";
import { SessionStore } from "@agentfw/core";
import { Cluster } from "ioredis";
import { RedisStateStore } from "../../src/index.ts";

/** What a child process is told on its command line. */
export interface ChildTask {
  readonly job: "increment" | "write";
  readonly keyPrefix: string;
  /** One for a single node, several for a cluster. */
  readonly urls: readonly string[];
  readonly name: string;
  readonly times: number;
}

const SCOPE = { owner: "alice", attempts: 10_000 };

const task: ChildTask = JSON.parse(process.argv[2] ?? "");
const [url = "", ...others] = task.urls;
const cluster = others.length === 0 ? undefined : new Cluster(task.urls.map((text) => addressOf(text)));
const store = new RedisStateStore(cluster === undefined ? { url } : { client: cluster }, {
  keyPrefix: task.keyPrefix,
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

/** Adds one to the count of a session, as often as asked. */
async function increment(): Promise<void> {
  const sessions = new SessionStore(store);
  for (let turn = 0; turn < task.times; turn += 1) {
    await sessions.update("shared", SCOPE, (session) => {
      session.state["count"] = Number(session.state["count"]) + 1;
    });
    tell(`${task.name} ${turn}`);
  }
}

/** Creates, rewrites and deletes items, several at once, and tells what was acknowledged. */
async function write(): Promise<void> {
  for (let turn = 0; turn < task.times; turn += 1) {
    const key = `${task.name}-${turn}`;
    await Promise.all([
      store.create(key, JSON.stringify({ turn }), { tags: { by: task.name } }).then(() => tell(`created ${key}`)),
      store.create(`${key}-gone`, "{}", { tags: { by: task.name } }),
    ]);
    await Promise.all([
      store.set(key, JSON.stringify({ turn, again: true }), { tags: { by: "all" } }).then(() => tell(`set ${key}`)),
      store.delete(`${key}-gone`).then(() => tell(`deleted ${key}-gone`)),
    ]);
  }
}

await (task.job === "increment" ? increment() : write());
await store.close();
cluster?.disconnect();
