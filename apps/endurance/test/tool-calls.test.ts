import { type Message, openConversation, type Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { type Answer, call, dataOf, failureOf, MODES, Stage, shape, WAYS } from "./support/stage.ts";

function counted(): { ran: string[]; tools: Tool[] } {
  const ran: string[] = [];
  const make = (name: string): Tool => ({
    name,
    parameters: { type: "object" },
    execute: () => {
      ran.push(name);
      return name;
    },
  });
  return { ran, tools: ["A", "B"].map(make) };
}

const text = (role: "assistant" | "user", messageId: string): Message => ({
  role,
  messageId,
  contents: [{ type: "text", text: messageId }],
});
const OPEN: readonly Message[] = [
  text("user", "u1"),
  { role: "assistant", messageId: "a1", contents: [call("A", "A"), call("B", "B")] },
  { role: "tool", messageId: "a1/A", contents: [{ type: "function_result", callId: "A", result: 1 }] },
];
const CLOSED = 'tool: result B "The call was interrupted. Whether it took effect is unknown."';

describe.each(WAYS)("A call that a dead process left open ($backend, streamed: $isStreamed)", (way) => {
  async function found(messages: readonly Message[]) {
    const open = await dataOf(way);
    await openConversation(open(), { owner: "ann", sessionId: "s" }).append(messages);
    return open;
  }

  it("is closed for the model and in the store, once, and neither of its batch runs again", async () => {
    const open = await found(OPEN);
    const { ran, tools } = counted();
    const second = new Stage(open(), way, ["a2"], { tools });
    await second.run("u2");
    const request = ["user: u1", "assistant: call A | call B", "tool: result A 1", CLOSED, "user: u2"];
    expect(shape(second.model.calls[0]?.messages ?? [])).toEqual(request);
    const third = new Stage(open(), way, ["a3"], { tools });
    await third.run("u3");
    expect(shape(third.model.calls[0]?.messages ?? [])).toEqual([...request, "assistant: a2", "user: u3"]);
    expect(third.diagnostics).toEqual([]);
    expect(ran).toEqual([]);
  });

  it("leaves every other message as it was, also in the middle, and a result without a call is left out", async () => {
    const before = Array.from({ length: 20 }, (_, index) => text(index % 2 ? "assistant" : "user", `b${index}`));
    const after = Array.from({ length: 26 }, (_, index) => text(index % 2 ? "user" : "assistant", `c${index}`));
    const orphan: Message = {
      role: "tool",
      messageId: "x",
      contents: [{ type: "function_result", callId: "X", result: 0 }],
    };
    const open = await found([...before, ...OPEN, orphan, ...after]);
    const key = { owner: "ann", source: "history", session: "s" };
    const { records } = await open().read(key);
    const stage = new Stage(open(), way, ["a2"]);
    await stage.run("u2");
    const request = shape(stage.model.calls[0]?.messages ?? []);
    expect(request).toEqual([...shape(before), ...shape(OPEN), CLOSED, ...shape(after), "user: u2"]);
    expect((await open().read(key)).records.slice(0, records.length)).toEqual(records);
    expect(stage.diagnostics.map(({ type }) => type).sort()).toEqual(["open_call_closed", "orphan_result_dropped"]);
  });
});

describe.each(WAYS.flatMap((way) => MODES.map((historyPersistence) => ({ ...way, historyPersistence }))))(
  "Two tool rounds ($backend, streamed: $isStreamed, $historyPersistence)",
  ({ historyPersistence, ...way }) => {
    const rounds: Answer[] = [{ pieces: [call("1", "A")] }, { pieces: [call("2", "B")] }];
    const stored = ["user: u", "assistant: call 1", 'tool: result 1 "A"', "assistant: call 2", 'tool: result 2 "B"'];

    it("are stored and sent the same", async () => {
      const open = await dataOf(way);
      const { ran, tools } = counted();
      const stage = new Stage(open(), way, [...rounds, "done"], { tools, historyPersistence });
      await stage.run("u");
      expect(shape(await new Stage(open(), way, []).stored())).toEqual([...stored, "assistant: done"]);
      expect(stage.model.calls.map(({ messages }) => messages.length)).toEqual([1, 3, 5]);
      expect(ran).toEqual(["A", "B"]);
    });

    it("stay or go as a whole when the third call of the model fails, and no tool runs twice", async () => {
      const open = await dataOf(way);
      const { ran, tools } = counted();
      const failing: Answer = { pieces: [], throws: new RangeError("model") };
      const stage = new Stage(open(), way, [...rounds, failing], { tools, historyPersistence });
      expect(await failureOf(stage.run("u"))).toBeInstanceOf(RangeError);
      const kept = historyPersistence === "per-run" ? [] : stored;
      expect(shape(await stage.stored())).toEqual(kept);
      const next = new Stage(open(), way, ["fine"], { tools, historyPersistence });
      await next.run("v");
      expect(shape(await next.stored())).toEqual([...kept, "user: v", "assistant: fine"]);
      expect(ran).toEqual(["A", "B"]);
    });
  },
);
