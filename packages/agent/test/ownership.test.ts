import { describe, expect, it } from "vitest";
import { failureOf, open } from "./fixture.ts";

/** What callers in plain JavaScript can pass; the types would not let us. */
function loosely<T>(value: unknown): T {
  return value as T;
}

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("Ownership", () => {
  it("is refused when it is another's, or nobody's where an owner is required, before anything is read", async () => {
    const { agent, client: model, store } = open(["hi"], { requireOwner: true });
    const attempts = [
      agent.run("x", { session: agent.createSession() }),
      agent.run("x", { session: agent.createSession({ owner: "ann" }), owner: "bob" }),
      agent.run("x", { session: agent.createSession({ owner: "ann" }), owner: null }),
      agent.run("x", { session: agent.createSession({ owner: "ann" }), owner: "" }),
    ];
    for (const attempt of attempts) {
      expect(await failureOf(attempt)).toMatchObject({ code: "unauthorized" });
    }
    expect([model.calls.length, store.calls.length]).toEqual([0, 0]);
  });

  it("is not asked for in a run without a session, which reads and stores nothing", async () => {
    const { agent } = open(["hi"], { requireOwner: true });
    expect((await agent.run("x")).text).toBe("hi");
  });

  it("must be said when a conversation is named", () => {
    const { agent } = open([]);
    for (const options of [{ sessionId: "s" }, { serviceSessionId: "conv" }, { sessionId: "", owner: "ann" }]) {
      expect(thrownBy(() => agent.getSession(loosely(options)))).toMatchObject({ code: "configuration" });
    }
    expect(thrownBy(() => agent.createSession(loosely({ sessionId: "s" })))).toMatchObject({ code: "configuration" });
    for (const options of [undefined, null, {}, { owner: "ann" }]) {
      expect(thrownBy(() => agent.getSession(loosely(options)))).toMatchObject({ code: "configuration" });
    }
  });

  it("keeps the conversations of two owners apart under one session id", async () => {
    const { agent, client: model } = open(["one", "two"]);
    for (const owner of ["ann", "bob"]) {
      await agent.run("x", { session: agent.createSession({ sessionId: "s", owner }) });
    }
    expect(model.calls.map(({ messages }) => messages.length)).toEqual([1, 1]);
  });
});
