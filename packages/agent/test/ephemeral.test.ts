import { type ContextProvider, InMemoryHistoryProvider, ProviderSessionState } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { open } from "./fixture.ts";
import { call, shape } from "./scripted-client.ts";

const counter = new ProviderSessionState<number>({ key: "counter", initialize: () => 0 });

/** A provider that counts the runs of a session in the session. */
function counting(seen: (readonly [count: number, isEphemeral: boolean, sessionId: string])[]): ContextProvider {
  return {
    sourceId: "counter",
    beforeRun: async ({ session, ephemeral }) => {
      counter.set(session, counter.get(session) + 1);
      seen.push([counter.get(session), ephemeral, session.sessionId]);
    },
  };
}

describe("A run without a session", () => {
  it("loads and stores nothing, also call by call", async () => {
    for (const historyPersistence of ["per-run", "per-service-call"] as const) {
      const look = { name: "look", parameters: { type: "object" }, execute: () => 1 };
      const { agent, client, store } = open([[call("1", "look")], "one", "two"], { historyPersistence, tools: [look] });
      await agent.run("a");
      await agent.run("b");
      expect(store.calls).toEqual([]);
      expect(client.calls.map(({ messages }) => messages.length)).toEqual([1, 3, 1]);
    }
  });

  it("gives providers a session that is forgotten afterwards", async () => {
    const seen: (readonly [number, boolean, string])[] = [];
    const { agent } = open(["one", "two"], { contextProviders: [counting(seen)] });
    await agent.run("a");
    await agent.run("b");
    expect(seen.map(([count, isEphemeral]) => [count, isEphemeral])).toEqual([
      [1, true],
      [1, true],
    ]);
    expect(seen[0]?.[2]).not.toBe(seen[1]?.[2]);
  });

  it("lets nothing into runs of sessions at the same time, nor they into each other", async () => {
    const seen: (readonly [number, boolean, string])[] = [];
    const { agent } = open(["1", "2", "3", "4", "5", "6"], { contextProviders: [counting(seen)] });
    const [left, right] = [agent.createSession(), agent.createSession()];
    await Promise.all([
      agent.run("a", { session: left }),
      agent.run("b"),
      agent.run("c", { session: right }),
      agent.run("d", { session: left }),
      agent.run("e"),
      agent.run("f", { session: right }),
    ]);
    expect([counter.get(left), counter.get(right)]).toEqual([2, 2]);
    expect(seen.filter(([, isEphemeral]) => isEphemeral).map(([count]) => count)).toEqual([1, 1]);
  });

  it("still gets what providers add", async () => {
    const facts: ContextProvider = { sourceId: "facts", beforeRun: async (context) => context.addMessages("a fact") };
    const { agent, client } = open(["one"], { contextProviders: [facts] });
    await agent.run("a");
    expect(shape(client.calls[0]?.messages ?? [])).toEqual(["user: a fact", "user: a"]);
  });

  it("keeps what the caller passes, so a transcript can be carried by the caller", async () => {
    const { agent, client } = open(["one", "two"], {
      contextProviders: [new InMemoryHistoryProvider({ load: false })],
    });
    const first = await agent.run("a");
    await agent.run(["a", ...first.messages, "b"]);
    expect(shape(client.calls[1]?.messages ?? [])).toEqual(["user: a", "assistant: one", "user: b"]);
  });
});
