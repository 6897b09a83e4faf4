import { HistoryProvider, isAgentFrameworkError } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { failureOf, open, type StoreCall, TestStore } from "./fixture.ts";
import { call, shape } from "./scripted-client.ts";

/** A store whose calls of these names never settle: a connection into a black hole. */
function silent(...names: StoreCall["name"][]): (given: StoreCall) => unknown {
  return ({ name }) => (names.includes(name) ? new Promise(() => undefined) : undefined);
}

const history = { timeoutMs: 50 };

describe("A store that never answers", () => {
  it("ends a run within its deadline while history is loaded, before the model is called", async () => {
    const { agent, client, session, store } = open(["hi"], { history });
    store.before = silent("read");
    expect(await failureOf(agent.run("x", { session: session() }))).toMatchObject({ code: "timeout", retryable: true });
    expect(client.calls).toHaveLength(0);
  });

  it("ends a run within its deadline while the turn is stored, and the answer is on the error", async () => {
    const { agent, session, store } = open(["hi"], { history });
    store.before = silent("append");
    const error = await failureOf(agent.run("x", { session: session() }));
    expect(isAgentFrameworkError(error, "outcome_unknown")).toBe(true);
    expect(error).toMatchObject({ retryable: true, response: { text: "hi" } });
  });

  it("ends a run within its deadline before any tool starts, where history is stored call by call", async () => {
    let ran = 0;
    const look = { name: "look", parameters: { type: "object" }, execute: () => (ran += 1) };
    const { agent, session, store } = open([[call("1", "look")], "hi"], {
      history,
      tools: [look],
      historyPersistence: "per-service-call",
    });
    store.before = silent("append");
    expect(await failureOf(agent.run("x", { session: session() }))).toMatchObject({ code: "outcome_unknown" });
    expect(ran).toBe(0);
  });

  it("ends a stream within its deadline, after all pieces were read", async () => {
    const { agent, session, store } = open([{ pieces: ["a", "b"] }], { history });
    store.before = silent("append");
    const pieces: string[] = [];
    const error = await failureOf(
      (async () => {
        for await (const { text } of agent.runStream("x", { session: session() })) {
          pieces.push(text);
        }
      })(),
    );
    expect(pieces).toEqual(["a", "b"]);
    expect(error).toMatchObject({ code: "outcome_unknown", response: { text: "ab" } });
  });

  it("does not keep the next run from the conversation once it answers again", async () => {
    const { agent, session, store, stored } = open(["one", "two"], { history });
    store.before = silent("append");
    await failureOf(agent.run("a", { session: session(), runId: "r" }));
    store.before = undefined;
    await agent.run("a", { session: session(), runId: "r" });
    expect(shape(await stored())).toEqual(["user: a", "assistant: two"]);
  });

  it("is asked twice in a run as a secondary store, however often something is stored", async () => {
    const audit = new TestStore();
    audit.before = silent("append", "read");
    const calls = Array.from({ length: 8 }, (_, index) => call(`${index}`, "look"));
    const fixture = open([calls, [call("again", "look")], "done"], {
      tools: [{ name: "look", parameters: { type: "object" }, execute: () => 1 }],
      historyPersistence: "per-service-call",
      contextProviders: [new HistoryProvider(audit, { sourceId: "audit", load: false, timeoutMs: 50 })],
    });
    expect((await fixture.agent.run("go", { session: fixture.session() })).text).toBe("done");
    expect(await fixture.stored()).toHaveLength(13);
    // Once during the run, and once more when it ends.
    expect(audit.calls.filter(({ name }) => name === "append")).toHaveLength(2);
    expect(fixture.diagnostics.filter(({ type }) => type === "provider_failed")).toHaveLength(2);
  });

  it("does not hold up a run as a secondary store: the run is complete, and the failure is reported", async () => {
    const audit = new TestStore();
    audit.before = silent("append", "read");
    const { agent, session, stored, diagnostics } = open(["hi"], {
      contextProviders: [new HistoryProvider(audit, { sourceId: "audit", load: false, timeoutMs: 50 })],
    });
    expect((await agent.run("x", { session: session() })).text).toBe("hi");
    expect(await stored()).toHaveLength(2);
    expect(diagnostics).toMatchObject([{ type: "provider_failed", cause: { code: "outcome_unknown" } }]);
  });
});
