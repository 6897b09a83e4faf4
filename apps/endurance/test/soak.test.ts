import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@agentfw/agent";
import { HistoryProvider, type Message, openConversation } from "@agentfw/core";
import { FileHistoryStore } from "@agentfw/history-file";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Soak, soak } from "./soak/soak.ts";
import { buildChild } from "./soak/worker.ts";
import { requestFault } from "./support/valid-request.ts";

const RUNS = Number(process.env["AGENTFW_SOAK_RUNS"] ?? 120);
const SEED = Number(process.env["AGENTFW_SOAK_SEED"] ?? 1);
/** A short soak on fewer conversations, so that each has a life of some length. */
const SESSIONS = Math.max(5, Math.min(50, Math.floor(RUNS / 15)));

describe(`After ${RUNS} runs over ${SESSIONS} conversations, with seed ${SEED}`, () => {
  let directory = "";
  let store: FileHistoryStore;
  let result: Soak;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "agentfw-endurance-"));
    const program = await buildChild(directory);
    const data = join(directory, "store");
    result = await soak({ program, store: data, seed: SEED, runs: RUNS, sessions: SESSIONS, workers: 3 });
    store = new FileHistoryStore({ directory: data, fsync: false });
    const counts = [...result.outcomes].sort(([, left], [, right]) => right - left);
    process.stdout.write(`${counts.map(([name, number]) => `${number} ${name}`).join("\n")}\n${result.kills} kills\n`);
  }, 1_200_000);

  afterAll(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  it("runs succeeded, failed and were killed in them", () => {
    expect(result.outcomes.get("done")).toBeGreaterThan(RUNS / 5);
    expect(result.kills).toBeGreaterThan(RUNS / 50);
  });

  it("no request was one that a strict service refuses, and no rejection was unheard", () => {
    expect(result.faults).toEqual([]);
  });

  it("every message of a run that succeeded is stored, and none is stored twice", async () => {
    for (const { name, acknowledged } of result.sessions) {
      const { messages } = await openConversation(store, { owner: "ann", sessionId: name }).messages();
      const ids = messages.map(({ messageId }) => messageId);
      expect(new Set(ids).size, name).toBe(ids.length);
      expect(
        [...acknowledged].filter((id) => !ids.includes(id)),
        name,
      ).toEqual([]);
    }
  });

  it("every history can be gone on with, and is valid as a whole", async () => {
    for (const { name } of result.sessions) {
      let request: readonly Message[] = [];
      const agent = new Agent({
        client: {
          contractVersion: 1,
          storesByDefault: false,
          async *stream(messages: readonly Message[]) {
            request = messages;
            yield { contents: [{ type: "text" as const, text: "good bye" }] };
          },
        },
        contextProviders: [new HistoryProvider(store)],
      });
      await agent.run("the end", { session: agent.createSession({ sessionId: name, owner: "ann" }) });
      expect(requestFault(request), name).toBeUndefined();
    }
  });

  it("no tool ran twice for one call where each step is stored", () => {
    for (const { name, habits, effects } of result.sessions) {
      if (habits.historyPersistence === "per-service-call") {
        expect(
          [...effects].filter(([, times]) => times > 1),
          name,
        ).toEqual([]);
      }
    }
  });
});
