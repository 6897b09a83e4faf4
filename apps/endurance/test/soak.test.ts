import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent } from "@agentfw/agent";
import { type ChatClient, HistoryProvider, type HistoryStore, openConversation } from "@agentfw/core";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openPlace, type Place, type SoakBackend } from "./soak/places.ts";
import { soakSettings } from "./soak/settings.ts";
import { type Soak, soak, summary } from "./soak/soak.ts";
import { buildChild } from "./soak/worker.ts";
import { SERVICES } from "./support/services.ts";
import { ScriptedModel } from "./support/stage.ts";

const { backends, runs, seed } = soakSettings(process.env);
/** A short soak on fewer conversations, so that each has a life of some length. */
const SESSIONS = Math.max(5, Math.min(50, Math.floor(runs / 15)));

function addressOf(backend: SoakBackend, directory: string): string {
  const addresses: Readonly<Record<SoakBackend, () => string>> = {
    file: () => join(directory, "store"),
    redis: () => inject("redisUrl"),
    postgres: () => inject("postgresUrl"),
    blob: () => inject("storageConnectionString"),
  };
  return addresses[backend]();
}

describe.each(backends)(`On %s, after ${runs} runs over ${SESSIONS} conversations, with seed ${seed}`, (backend) => {
  let directory = "";
  let store: HistoryStore;
  let result: Soak;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "agentfw-endurance-"));
    const program = await buildChild(directory);
    const place: Place = { backend, address: addressOf(backend, directory), name: `soak-${randomUUID()}` };
    result = await soak({ program, place, seed, runs, sessions: SESSIONS, workers: 3 });
    store = openPlace(place, 60_000);
    process.stdout.write(`${backend}\n${summary(result)}\n`);
  }, 1_800_000);

  afterAll(async () => {
    await store.close?.();
    await rm(directory, { recursive: true, force: true });
  });

  it("runs succeeded, failed and were killed in them", () => {
    expect(result.outcomes.get("done")).toBeGreaterThan(runs / 5);
    expect(result.kills).toBeGreaterThan(runs / 50);
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
        [...acknowledged].filter(([id]) => !ids.includes(id)).map((entry) => [...entry, messages]),
        name,
      ).toEqual([]);
    }
  });

  /** Goes on with every conversation whose model did, or did not, repeat the ids of its calls. */
  async function goOn(client: ChatClient, repeatsCallIds: boolean): Promise<void> {
    const agent = new Agent({ client, contextProviders: [new HistoryProvider(store)] });
    for (const { name } of result.sessions.filter(({ habits }) => habits.repeatsCallIds === repeatsCallIds)) {
      const session = agent.createSession({ sessionId: name, owner: "ann" });
      expect((await agent.run("the end", { session })).text, name).toBe("Hello.");
    }
  }

  it.each(Object.entries(SERVICES))(
    "every history can be gone on with at %s, and is valid as a whole",
    async (_, start) => {
      const service = await start(true);
      await goOn(service.client, false);
      await service.close();
    },
  );

  it("so is every history of a model that repeats the ids of its calls, for a service that lets it", async () => {
    await goOn(new ScriptedModel(Array(SESSIONS).fill("Hello.")), true);
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
