import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, inject, onTestFinished } from "vitest";
import type { BackendName } from "../../src/stores.ts";
import { send } from "./client.ts";
import { type ChatModel, startModel } from "./model.ts";
import { type Replica, startReplica } from "./replica.ts";

/** Two replicas that share one database and nothing else, for the tests of one file. */
export interface TwoReplicas {
  readonly backend: BackendName;
  /** Where the database is. */
  readonly url: string;
  /** The replicas and their model service, started by the first who asks. */
  started(): Promise<{ readonly model: ChatModel; readonly first: Replica; readonly second: Replica }>;
  /** A further replica for one test. */
  oneMore(...args: string[]): Promise<Replica>;
  /** What was paid back for an order until now, at both replicas. */
  refunds(order: string): Promise<Record<string, unknown>[]>;
}

/** Starts them before the tests of a file, and ends them after. */
export function twoReplicas(backend: BackendName): TwoReplicas {
  const url = inject(backend === "postgres" ? "postgresUrl" : "redisUrl");
  let starting: ReturnType<TwoReplicas["started"]> | undefined;

  async function start() {
    const model = await startModel();
    const begin = () => startReplica({ backend, url, model });
    const [first, second] = await Promise.all([begin(), begin()]);
    return { model, first, second };
  }

  function started() {
    starting ??= start();
    return starting;
  }

  beforeAll(async () => void (await started()));

  afterAll(async () => {
    const { model, first, second } = await started();
    await Promise.all([first.kill(), second.kill()]);
    await model.close();
  });

  return {
    backend,
    url,
    started,
    oneMore: async (...args) => {
      const { model } = await started();
      const replica = await startReplica({ backend, url, model, args });
      onTestFinished(() => replica.kill());
      return replica;
    },
    refunds: async (order) => {
      const { first, second } = await started();
      const mark = `/chats/${randomUUID()}/messages`;
      await Promise.all([first, second].map((replica) => send(replica, "nobody", "GET", mark)));
      // A log comes in order, but not at once.
      await expect.poll(() => [first, second].every((replica) => replica.logText().includes(mark))).toBe(true);
      const lines = [first, second].flatMap((replica) => replica.log());
      return lines.filter((line) => line["msg"] === "refunded" && line["order"] === order);
    },
  };
}
