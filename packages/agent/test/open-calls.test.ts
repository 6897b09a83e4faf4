import { type Message, openConversation } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { type Fixture, type FixtureOptions, open } from "./fixture.ts";
import { call, shape } from "./scripted-client.ts";

let ran = 0;
const tools = ["A", "B"].map((name) => ({
  name,
  parameters: { type: "object" },
  execute: () => {
    ran += 1;
  },
}));

const user = (id: string): Message => ({ role: "user", messageId: id, contents: [{ type: "text", text: id }] });
const says = (id: string): Message => ({ role: "assistant", messageId: id, contents: [{ type: "text", text: id }] });
const calls = (id: string, ...names: string[]): Message => ({
  role: "assistant",
  messageId: id,
  contents: names.map((name) => call(name, name)),
});
const result = (id: string, callId: string): Message => ({
  role: "tool",
  messageId: id,
  contents: [{ type: "function_result", callId, result: `result of ${callId}` }],
});

/** A process that finds these messages stored. */
async function found(messages: readonly Message[], options: FixtureOptions = {}): Promise<Fixture> {
  ran = 0;
  const fixture = open(["one", "two"], { tools, ...options });
  await openConversation(fixture.store.data, { owner: "ann", sessionId: "s" }).append(messages);
  return fixture;
}

const INTERRUPTED = "The call was interrupted. Whether it took effect is unknown.";

describe("A stored call without a result", () => {
  it("is closed for the model right behind it, not run again, and closed once for all turns to come", async () => {
    const fixture = await found([user("u1"), calls("a1", "A", "B"), result("a1/A", "A")]);
    await fixture.agent.run("u2", { session: fixture.session() });
    const expected = [
      "user: u1",
      "assistant: call A A {} | call B B {}",
      'tool: result A "result of A"',
      `tool: result B "${INTERRUPTED}"`,
      "user: u2",
    ];
    expect(shape(fixture.client.calls[0]?.messages ?? [])).toEqual(expected);
    expect(fixture.diagnostics).toMatchObject([{ type: "open_call_closed", callId: "B", sessionId: "s" }]);
    await fixture.agent.run("u3", { session: fixture.session() });
    expect(shape(fixture.client.calls[1]?.messages ?? [])).toEqual([...expected, "assistant: one", "user: u3"]);
    expect(fixture.diagnostics).toHaveLength(1);
    expect(ran).toBe(0);
  });

  it("is closed when it is the last message that is stored", async () => {
    const fixture = await found([user("u1"), calls("a1", "A")]);
    await fixture.agent.run("u2", { session: fixture.session() });
    expect(shape(fixture.client.calls[0]?.messages ?? []).slice(2)).toEqual([
      `tool: result A "${INTERRUPTED}"`,
      "user: u2",
    ]);
  });

  it("in the middle of a long history is closed there, and every other message is as it was", async () => {
    const before = Array.from({ length: 10 }, (_, index) => [user(`u${index}`), says(`a${index}`)]).flat();
    const after = Array.from({ length: 14 }, (_, index) => [user(`v${index}`), says(`b${index}`)]).flat();
    const fixture = await found([...before, user("lost"), calls("open", "A"), ...after]);
    const records = (await fixture.store.data.read({ owner: "ann", source: "history", session: "s" })).records;
    await fixture.agent.run("now", { session: fixture.session() });
    const lines = shape(fixture.client.calls[0]?.messages ?? []);
    expect(lines.slice(20, 23)).toEqual(["user: lost", "assistant: call A A {}", `tool: result A "${INTERRUPTED}"`]);
    expect(lines).toHaveLength(50 + 2);
    const kept = (await fixture.store.data.read({ owner: "ann", source: "history", session: "s" })).records;
    expect(kept.slice(0, 50)).toEqual(records);
    expect(kept).toHaveLength(50 + 3);
  });

  it("is answered by a result that came late, and the late result stands beside it", async () => {
    const fixture = await found([
      user("u1"),
      calls("a1", "A"),
      says("a2"),
      user("u2"),
      result("a1/A", "A"),
      says("a3"),
    ]);
    await fixture.agent.run("u3", { session: fixture.session() });
    expect(shape(fixture.client.calls[0]?.messages ?? [])).toEqual([
      "user: u1",
      "assistant: call A A {}",
      'tool: result A "result of A"',
      "assistant: a2",
      "user: u2",
      "assistant: a3",
      "user: u3",
    ]);
    expect(fixture.diagnostics).toEqual([]);
  });
});

describe("A stored result without a call", () => {
  it("is left out, reported, and not stored again", async () => {
    const fixture = await found([user("u1"), result("x/X", "X"), says("a1")]);
    await fixture.agent.run("u2", { session: fixture.session() });
    expect(shape(fixture.client.calls[0]?.messages ?? [])).toEqual(["user: u1", "assistant: a1", "user: u2"]);
    expect(fixture.diagnostics).toMatchObject([{ type: "orphan_result_dropped", callId: "X" }]);
    expect(await fixture.stored()).toHaveLength(5);
  });
});

describe("A history that is in order", () => {
  it("reaches the model unchanged, message by message", async () => {
    const messages = [user("u1"), calls("a1", "A", "B"), result("a1/A", "A"), result("a1/B", "B"), says("a2")];
    const fixture = await found(messages);
    await fixture.agent.run("u2", { session: fixture.session() });
    const sent = fixture.client.calls[0]?.messages.slice(0, -1).map(({ attribution: _, ...message }) => message);
    expect(sent).toEqual(messages);
    expect(fixture.diagnostics).toEqual([]);
  });

  it("is cut on whole groups by a window, however small", async () => {
    const messages = [user("u1"), calls("a1", "A", "B"), result("a1/A", "A"), result("a1/B", "B"), says("a2")];
    for (const maxMessages of [1, 2, 3, 4, 5, 6]) {
      const fixture = await found(messages, { history: { maxMessages } });
      await fixture.agent.run("u2", { session: fixture.session() });
      expect(fixture.diagnostics).toEqual([]);
      expect(shape(fixture.client.calls[0]?.messages ?? []).at(-1)).toBe("user: u2");
    }
  });
});

describe("Messages that hold nothing", () => {
  it("stay stored and are not sent, and a call keeps its place when the text beside it is blank", async () => {
    const blank: Message = { role: "assistant", messageId: "b1", contents: [{ type: "text", text: " " }] };
    const nothing: Message = { role: "assistant", messageId: "b2", contents: [] };
    const mixed: Message = {
      role: "assistant",
      messageId: "a1",
      contents: [{ type: "text", text: "" }, call("A", "A")],
    };
    const fixture = await found([user("u1"), blank, nothing, mixed, result("a1/A", "A"), says("a2")]);
    await fixture.agent.run("u2", { session: fixture.session() });
    expect(shape(fixture.client.calls[0]?.messages ?? [])).toEqual([
      "user: u1",
      "assistant: call A A {}",
      'tool: result A "result of A"',
      "assistant: a2",
      "user: u2",
    ]);
    expect(await fixture.stored()).toHaveLength(8);
  });

  it("are not made of an answer in which the model says nothing", async () => {
    const { agent, client, session, stored } = open(
      [
        { pieces: ["", { contents: [], finishReason: "stop" }] },
        { pieces: ["", { contents: [call("c", "A")] }] },
        "done",
      ],
      { tools },
    );
    await agent.run("a", { session: session() });
    await agent.run("b", { session: session() });
    expect(shape(await stored())).toEqual([
      "user: a",
      "user: b",
      "assistant: call c A {}",
      "tool: result c null",
      "assistant: done",
    ]);
    expect(client.calls).toHaveLength(3);
  });
});
