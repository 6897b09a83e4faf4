import type { Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { failureOf, open, reopen } from "./fixture.ts";
import { call, shape } from "./scripted-client.ts";

function counting(): { tools: Tool[]; ran: string[] } {
  const ran: string[] = [];
  const execute = () => ran.push("pay");
  return { tools: [{ name: "pay", parameters: { type: "object" }, execute }], ran };
}

describe("What is older than the loaded window", () => {
  it.each([
    ["per-service-call", 1],
    ["per-run", 2],
  ] as const)("makes a run of the same name a conflict and no lost answer (%s)", async (historyPersistence, times) => {
    const { tools, ran } = counting();
    const options = { tools, historyPersistence, history: { maxMessages: 4 } };
    const turns = ["1", "2", "3", "4", "5"];
    const first = open([[call("c", "pay")], "paid", ...turns], options);
    await first.agent.run("pay", { session: first.session(), runId: "r1" });
    for (const text of turns) {
      await first.agent.run(text, { session: first.session() });
    }
    const before = await first.stored();
    const second = reopen(first, [[call("c", "pay")], "paid again"], options);
    const error = await failureOf(second.agent.run("pay", { session: second.session(), runId: "r1" }));
    expect(error).toMatchObject({ code: "conflict" });
    expect(ran).toHaveLength(times);
    expect(await second.stored()).toEqual(before);
  });

  it("is reported when the caller sends a message with its id, which is stored once", async () => {
    const fixture = open(["a", "b", "c", "d"], { history: { maxMessages: 2 } });
    const message = { role: "user" as const, messageId: "m1", contents: "first" };
    await fixture.agent.run(message, { session: fixture.session() });
    await fixture.agent.run("x", { session: fixture.session() });
    await fixture.agent.run("y", { session: fixture.session() });
    expect(fixture.diagnostics).toEqual([]);
    await fixture.agent.run(message, { session: fixture.session() });
    expect(fixture.diagnostics.map(({ type }) => type)).toEqual(["already_stored"]);
    expect((await fixture.stored()).filter(({ messageId }) => messageId === "m1")).toHaveLength(1);
  });
});

describe("Ids of the parts of a message", () => {
  it("are nobody else's: text beside a result is stored beside a message that has the id it would get", async () => {
    const tool: Tool = { name: "ask", parameters: { type: "object" } };
    const fixture = open([[call("c", "ask")], "ok"], { tools: [tool] });
    await fixture.agent.run("go", { session: fixture.session() });
    const result = { type: "function_result" as const, callId: "c", result: 1 };
    const input = [
      { role: "user" as const, messageId: "m", contents: [result, { type: "text" as const, text: "beside" }] },
      { role: "user" as const, messageId: "m#1", contents: "another" },
    ];
    await fixture.agent.run(input, { session: fixture.session() });
    const stored = shape(await fixture.stored());
    expect(stored).toContain("user: beside");
    expect(stored).toContain("user: another");
  });
});

describe("A session whose state is frozen", () => {
  it("is refused before the model is called", async () => {
    const fixture = open(["never"]);
    const session = fixture.session();
    Object.freeze(session.state);
    expect(await failureOf(fixture.agent.run("hi", { session }))).toMatchObject({ code: "configuration" });
    expect(fixture.client.calls).toHaveLength(0);
  });
});
