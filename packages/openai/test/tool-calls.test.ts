import type { FunctionCallContent } from "@agentfw/core";
import { DONE } from "@agentfw/test-servers/openai";
import { describe, expect, it } from "vitest";
import { ToolCallReader } from "../src/tool-calls.ts";
import { call, collect, connect, fold, message } from "./helpers.ts";

type Piece = { index?: number; id?: string; name?: string; arguments?: string };

const TOOLS = [
  { name: "add", parameters: { type: "object", properties: { a: { type: "integer" } } } },
  { name: "now", parameters: { type: "object" } },
];
const QUESTION = [message("user", "Add.")];

/** What a server that streams these pieces makes of its calls, over HTTP. */
async function callsFrom(...pieces: Piece[]): Promise<readonly FunctionCallContent[]> {
  const { client, server } = await connect();
  const chunks = pieces.map(({ index, id, name, arguments: text }) => ({
    id: "chatcmpl-1",
    choices: [
      { index: 0, delta: { tool_calls: [{ index, id, type: "function", function: { name, arguments: text } }] } },
    ],
  }));
  server.reply({ stream: [...chunks, { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }, DONE] });
  return fold(await collect(client.stream(QUESTION, { tools: TOOLS }))).calls;
}

function namesAndArguments(calls: readonly FunctionCallContent[]): string[] {
  return calls.map((entry) => `${entry.name}${entry.arguments}`);
}

function expectDistinctIds(calls: readonly FunctionCallContent[]): void {
  expect(new Set(calls.map(({ callId }) => callId)).size).toBe(calls.length);
  for (const { callId } of calls) {
    expect(callId).toMatch(/^\S{1,40}$/);
  }
}

describe("tool calls of the service", () => {
  it("come apart by their numbers when their pieces alternate", async () => {
    const { client, server } = await connect();
    const toolCalls = [
      { id: "call_1", name: "add", arguments: '{"a": 1, "b": "first"}' },
      { id: "call_2", name: "add", arguments: '{"a": 2, "b": "second, and longer"}' },
      { id: "call_3", name: "now", arguments: "" },
    ];
    server.reply({ answer: { toolCalls } });
    const updates = await collect(client.stream(QUESTION, { tools: TOOLS }));
    expect(fold(updates)).toMatchObject({
      calls: toolCalls.map(({ id, name, arguments: text }) => call(id, name, text)),
      finishReason: "tool_calls",
    });
    const pieces = updates.flatMap((update) => update.contents ?? []).filter(({ type }) => type === "function_call");
    expect(pieces.length).toBeGreaterThan(6);
  });

  it("opens a call with its name and continues it with an empty one", () => {
    const reader = new ToolCallReader();
    const piece = (id: string | undefined, name: string | undefined, text: string) =>
      reader.read({ index: 0, id, name, arguments: text });
    expect(piece("c1", "add", "")).toEqual(call("c1", "add", ""));
    expect(piece(undefined, undefined, '{"a"')).toEqual(call("c1", "", '{"a"'));
    expect(piece(undefined, undefined, "")).toBeUndefined();
    expect(piece(undefined, undefined, ":1}")).toEqual(call("c1", "", ":1}"));
  });

  it("go back to the service with their results", async () => {
    const { client, server } = await connect();
    server.reply({ answer: { toolCalls: [{ id: "call_1", name: "add", arguments: '{"a":1}' }] } });
    const { calls } = fold(await collect(client.stream(QUESTION, { tools: TOOLS })));
    const results = calls.map(({ callId }) => message("tool", { type: "function_result", callId, result: 3 }));
    const next = [...QUESTION, message("assistant", ...calls), ...results];
    expect(fold(await collect(client.stream(next, { tools: TOOLS }))).text).toBe("Hello.");
  });
});

describe("tool calls of compatible servers", () => {
  it("get ids when they have none", async () => {
    const calls = await callsFrom(
      { index: 0, name: "add", arguments: '{"a":' },
      { index: 0, arguments: "1}" },
      { index: 1, id: "", name: "add", arguments: '{"a":2}' },
    );
    expect(namesAndArguments(calls)).toEqual(['add{"a":1}', 'add{"a":2}']);
    expectDistinctIds(calls);
  });

  it("get distinct ids when one id is used twice", async () => {
    const calls = await callsFrom(
      { index: 0, id: "call_0", name: "add", arguments: '{"a":1}' },
      { index: 1, id: "call_0", name: "add", arguments: '{"a":' },
      { index: 1, arguments: "2}" },
    );
    expect(namesAndArguments(calls)).toEqual(['add{"a":1}', 'add{"a":2}']);
    expect(calls[0]?.callId).toBe("call_0");
    expectDistinctIds(calls);
  });

  it("come apart by their ids when all have the number 0", async () => {
    const calls = await callsFrom(
      { index: 0, id: "x", name: "add", arguments: '{"a":1}' },
      { index: 0, id: "y", name: "add", arguments: '{"a":' },
      { index: 0, id: "y", arguments: "2}" },
      { index: 0, id: "z", name: "now", arguments: "{}" },
    );
    expect(namesAndArguments(calls)).toEqual(['add{"a":1}', 'add{"a":2}', "now{}"]);
    expect(calls.map(({ callId }) => callId)).toEqual(["x", "y", "z"]);
  });

  it("come apart when they have no numbers", async () => {
    const calls = await callsFrom(
      { id: "x", name: "add", arguments: "" },
      { id: "y", name: "add", arguments: "" },
      { id: "x", arguments: '{"a":1}' },
      { id: "y", arguments: '{"a":2}' },
    );
    expect(namesAndArguments(calls)).toEqual(['add{"a":1}', 'add{"a":2}']);
  });

  it("are continued by what has no name, whatever its number", async () => {
    const calls = await callsFrom({ id: "x", name: "add", arguments: '{"a":' }, { index: 3, arguments: "1}" });
    expect(calls).toEqual([call("x", "add", '{"a":1}')]);
  });

  it("come apart when they have neither numbers nor ids", async () => {
    const calls = await callsFrom(
      { name: "add", arguments: '{"a":1}' },
      { name: "now", arguments: "" },
      { name: "add", arguments: '{"a":' },
      { arguments: "2}" },
    );
    expect(namesAndArguments(calls)).toEqual(['add{"a":1}', "now", 'add{"a":2}']);
    expectDistinctIds(calls);
  });

  it("are one call when its id and name come with every piece", async () => {
    const calls = await callsFrom(
      { index: 0, id: "x", name: "add", arguments: '{"a":{"b":1}' },
      { index: 0, id: "x", name: "add", arguments: "}" },
      { index: 0, id: "x", name: "add", arguments: "" },
    );
    expect(namesAndArguments(calls)).toEqual(['add{"a":{"b":1}}']);
  });

  it("are two calls when the same tool comes again under the same id and number", async () => {
    const calls = await callsFrom(
      { index: 0, id: "x", name: "add", arguments: '{"a":1}' },
      { index: 0, id: "x", name: "add", arguments: '{"a":2}' },
    );
    expect(namesAndArguments(calls)).toEqual(['add{"a":1}', 'add{"a":2}']);
    expectDistinctIds(calls);
  });

  it("stay one call when the id changes with every piece", async () => {
    const calls = await callsFrom(
      { index: 0, id: "x1", name: "add", arguments: '{"a":' },
      { index: 0, id: "x2", arguments: "1}" },
    );
    expect(calls).toEqual([call("x1", "add", '{"a":1}')]);
  });

  it("wait for their name and keep the arguments that came before it", async () => {
    const calls = await callsFrom(
      { index: 0, id: "x", arguments: '{"a":' },
      { index: 0, name: "add", arguments: "1}" },
    );
    expect(calls).toEqual([call("x", "add", '{"a":1}')]);
  });

  it("are unavailable when a call never gets a name", async () => {
    await expect(callsFrom({ index: 0, id: "x", arguments: "{}" })).rejects.toMatchObject({ code: "unavailable" });
  });

  it("may bring their arguments as an object", async () => {
    const { client, server } = await connect();
    const toolCall = { index: 0, id: "x", function: { name: "add", arguments: { a: 1 } } };
    server.reply({ stream: [{ choices: [{ delta: { tool_calls: [toolCall] }, finish_reason: "stop" }] }, DONE] });
    expect(fold(await collect(client.stream(QUESTION, { tools: TOOLS }))).calls).toEqual([call("x", "add", '{"a":1}')]);
  });

  it.each([{ tool_calls: 7 }, { tool_calls: [7] }, { tool_calls: [{ index: 0, id: "x", custom: {} }] }])(
    "are unavailable when they cannot be read: %j",
    async (delta) => {
      const { client, server } = await connect();
      server.reply({ stream: [{ choices: [{ index: 0, delta, finish_reason: "tool_calls" }] }, DONE] });
      await expect(collect(client.stream(QUESTION, {}))).rejects.toMatchObject({ code: "unavailable" });
    },
  );
});
