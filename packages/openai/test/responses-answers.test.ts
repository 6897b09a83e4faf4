import type { ChatUpdate } from "@agentfw/core";
import {
  asks,
  eventsOf,
  type Fields,
  outputItems,
  type ResponsesAnswer,
  responseBody,
  says,
} from "@agentfw/test-servers/openai";
import { describe, expect, it } from "vitest";
import { call, collect, fold, message, rejection } from "./helpers.ts";
import { connectResponses } from "./responses-helpers.ts";

const QUESTION = [message("user", "Hi")];
const TOOLS = [{ name: "add", parameters: { type: "object" } }];

/** The events of a response as the service streams them, to take apart. */
function eventsFor(answer: ResponsesAnswer): Fields[] {
  const output = outputItems(answer, 1, undefined);
  return eventsOf(responseBody(answer, "resp_1", { model: "m" }, output), output);
}

/** The ids under which the service's messages begin. */
function messageIds(updates: readonly ChatUpdate[]): unknown[] {
  return updates.map(({ messageId }) => messageId).filter((id) => id !== undefined);
}

describe.each([true, false])("an answer, streaming: %s", (streaming) => {
  it("is text with its usage, its end and the id to continue with", async () => {
    const { client, server } = await connectResponses({ streaming });
    server.reply(says("Hello, world."));
    const updates = await collect(client.stream(QUESTION));
    expect(fold(updates)).toEqual({
      text: "Hello, world.",
      reasoning: "",
      calls: [],
      usage: [
        {
          inputTokenCount: 12,
          outputTokenCount: 7,
          totalTokenCount: 19,
          cachedInputTokenCount: 4,
          reasoningTokenCount: 3,
        },
      ],
      finishReason: "stop",
    });
    const id = updates.at(-1)?.conversationId;
    expect(server.kept(String(id))).toHaveLength(2);
    expect(updates[0]).toMatchObject({
      role: "assistant",
      messageId: id,
      responseId: id,
      model: "test-model",
      createdAt: "2023-11-14T22:13:20.000Z",
    });
    expect(updates.flatMap(({ contents = [] }) => contents)).not.toContainEqual({ type: "text", text: "" });
  });

  it("asks for tools with the ids and arguments that the model wrote", async () => {
    const { client, server } = await connectResponses({ streaming });
    server.reply(asks({ a: ["add", '{"a": 12345678901234567890}'], b: ["add", ""] }));
    const { calls, finishReason } = fold(await collect(client.stream(QUESTION, { tools: TOOLS })));
    expect(calls).toEqual([call("a", "add", '{"a": 12345678901234567890}'), call("b", "add", "")]);
    expect(finishReason).toBe("tool_calls");
  });

  it("has its reasoning in paragraphs, encrypted where the service keeps nothing", async () => {
    const { client, server } = await connectResponses({ streaming, store: false });
    server.reply({ items: [{ reasoning: ["First.", "Then."] }, { text: "Hello." }] });
    const updates = await collect(client.stream(QUESTION));
    expect(fold(updates).reasoning).toBe("First.\n\nThen.");
    const contents = updates.flatMap((update) => update.contents ?? []);
    const encrypted = contents.filter((content) => content.type === "text_reasoning" && content.protectedData);
    expect(encrypted).toHaveLength(1);
    expect(updates.at(-1)).not.toHaveProperty("conversationId");
  });

  it("keeps two texts apart that follow each other, and joins the parts of one", async () => {
    const { client, server } = await connectResponses({ streaming });
    server.reply({ items: [{ text: ["One, ", "in parts."] }, { text: "Two." }] });
    const updates = await collect(client.stream(QUESTION));
    expect(fold(updates).text).toBe("One, in parts.Two.");
    expect(messageIds(updates)).toEqual([expect.stringMatching(/^resp_/), "msg_1_1"]);
  });

  it("gives a refusal as text that is marked", async () => {
    const { client, server } = await connectResponses({ streaming });
    server.reply({ items: [{ refusal: "I would rather not." }] });
    const updates = await collect(client.stream(QUESTION));
    expect(fold(updates).text).toBe("I would rather not.");
    expect(updates[0]?.additionalProperties).toEqual({ refusal: true });
  });

  it("keeps what the service's own tools did as it came", async () => {
    const { client, server } = await connectResponses({ streaming });
    const other = { type: "web_search_call", status: "completed", action: { query: "x" } };
    server.reply({ items: [{ other }, { text: "Found." }] });
    const contents = (await collect(client.stream(QUESTION))).flatMap((update) => update.contents ?? []);
    expect(contents).toContainEqual({ type: "unknown", raw: { id: "ot_1_0", ...other } });
  });

  it.each([
    ["max_output_tokens", "length"],
    ["content_filter", "content_filter"],
  ])("that is incomplete for %s says so", async (incomplete, finishReason) => {
    const { client, server } = await connectResponses({ streaming });
    server.reply({ ...says("Half an "), incomplete });
    expect(fold(await collect(client.stream(QUESTION)))).toMatchObject({ text: "Half an ", finishReason });
  });

  it.each([
    ["server_error", "unavailable"],
    ["rate_limit_exceeded", "unavailable"],
    ["something_else", "unavailable"],
    ["context_length_exceeded", "too_large"],
  ])("that failed with %s is %s", async (code, expected) => {
    const { client, server } = await connectResponses({ streaming });
    server.reply({ items: [], failed: { code, message: "s3cret" } });
    const failure = await rejection(collect(client.stream(QUESTION)));
    expect(failure).toMatchObject({ code: expected, provider: "openai", message: expect.stringContaining(code) });
    expect(String(failure)).not.toContain("s3cret");
  });

  it("with two calls of one id is unavailable: their results could not be told apart", async () => {
    const { client, server } = await connectResponses({ streaming });
    const one = { call: { id: "a", name: "add", arguments: "{}" } };
    server.reply({ items: [one, one] });
    await expect(collect(client.stream(QUESTION))).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe("a stream", () => {
  it.each([1, 7, 1000])("comes out the same however the bytes are cut: %s at a time", async (splitBytes) => {
    const { client, server } = await connectResponses({ store: false });
    const answer = {
      items: [{ reasoning: "Où?" }, ...says("Zürich 📚").items, ...asks({ a: ["add", '{"ü":1}'] }).items],
    };
    server.reply({ answer, delivery: { splitBytes } });
    const { text, reasoning, calls } = fold(await collect(client.stream(QUESTION, { tools: TOOLS })));
    expect([text, reasoning, calls]).toEqual(["Zürich 📚", "Où?", [call("a", "add", '{"ü":1}')]]);
  });

  it.each([
    ["no pieces at all", (type: unknown) => type === "response.completed"],
    ["whole items only", (type: unknown) => type === "response.completed" || type === "response.output_item.done"],
    ["no opening of items", (type: unknown) => type !== "response.output_item.added"],
    ["no closing of items", (type: unknown) => type !== "response.output_item.done"],
    ["no head", (type: unknown) => type !== "response.created" && type !== "response.in_progress"],
  ])("of a server that sends %s says the same", async (_, isSent) => {
    const { client, server } = await connectResponses();
    const events = eventsFor({
      items: [{ reasoning: ["A.", "B."] }, { text: "Hello, world." }, ...asks({ a: ["add", '{"a":1}'] }).items],
    });
    server.reply({ stream: events.filter(({ type }) => isSent(type)) });
    const updates = await collect(client.stream(QUESTION, { tools: TOOLS }));
    expect(fold(updates)).toMatchObject({ text: "Hello, world.", calls: [call("a", "add", '{"a":1}')] });
    expect(fold(updates).reasoning.replaceAll("\n", "")).toBe("A.B.");
    expect(updates.at(-1)?.conversationId).toBe("resp_1");
  });

  it("that breaks off is unavailable after its pieces, and says no id to continue with", async () => {
    const { client, server } = await connectResponses();
    const events = eventsFor(says("Hello, world."));
    server.reply({ stream: events.slice(0, -1) });
    const updates: ChatUpdate[] = [];
    const reading = (async () => {
      for await (const update of client.stream(QUESTION)) {
        updates.push(update);
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: "unavailable" });
    expect(fold(updates).text).toBe("Hello, world.");
    expect(updates.every(({ conversationId }) => conversationId === undefined)).toBe(true);
  });

  it.each<[string, Fields | string, string]>([
    ["an error", { type: "error", code: "rate_limit_exceeded", message: "x" }, "unavailable"],
    ["an error of its own shape", { error: { code: "server_error", message: "x" } }, "unavailable"],
    ["an error for the context", { type: "error", code: "context_length_exceeded", message: "x" }, "too_large"],
    ["a piece of no item", { type: "response.output_text.delta", delta: "x" }, "unavailable"],
    ["an item that is none", { type: "response.output_item.done", output_index: 0, item: 7 }, "unavailable"],
    [
      "a call without a name",
      { type: "response.output_item.done", output_index: 0, item: { type: "function_call" } },
      "unavailable",
    ],
    ["an end without a response", { type: "response.completed" }, "unavailable"],
    ["a response that goes on", { type: "response.completed", response: { id: "r", status: "queued" } }, "unavailable"],
    ["a response without an id", { type: "response.completed", response: { status: "completed" } }, "unavailable"],
    ["no JSON", "data: {broken\n\n", "unavailable"],
  ])("with %s in it is %s", async (_, piece, code) => {
    const { client, server } = await connectResponses();
    server.reply({ stream: [...eventsFor(says("Hel")).slice(0, 2), piece] });
    await expect(collect(client.stream(QUESTION))).rejects.toMatchObject({ code });
  });

  it("is whole when the service has said its end, whatever becomes of the connection", async () => {
    const { client, server } = await connectResponses({ timeoutMs: 1500 });
    const text = eventsFor(says("Hello."))
      .map((event) => `data: ${JSON.stringify(event)}\n\n`)
      .join("");
    const bytes = Buffer.byteLength(text);
    const behind = 'data: {"type":"error","message":"late"}\n\n';
    server.reply(
      { stream: [text, behind], delivery: { cutAfterBytes: bytes } },
      { stream: [text, behind], delivery: { stallAfterBytes: bytes } },
      { stream: [text, behind] },
    );
    for (const _ of [1, 2, 3]) {
      const updates = await collect(client.stream(QUESTION));
      expect(fold(updates)).toMatchObject({ text: "Hello.", finishReason: "stop" });
      expect(updates.at(-1)?.conversationId).toBe("resp_1");
    }
  });

  it("whose call ends as another one than it began is unavailable", async () => {
    const { client, server } = await connectResponses();
    const events = eventsFor(asks({ a: ["add", '{"a":1}'] }));
    const item = { type: "function_call", call_id: "a", name: "add", arguments: '{"a":2}' };
    const index = events.findIndex(({ type }) => type === "response.output_item.done");
    server.reply({ stream: events.with(index, { type: "response.output_item.done", output_index: 0, item }) });
    await expect(collect(client.stream(QUESTION))).rejects.toMatchObject({ code: "unavailable" });
  });

  it("is told events that it does not know and goes on", async () => {
    const { client, server } = await connectResponses();
    const events = eventsFor(says("Hello."));
    server.reply({ stream: [...events.slice(0, 2), { type: "response.new_thing", delta: "x" }, ...events.slice(2)] });
    expect(fold(await collect(client.stream(QUESTION))).text).toBe("Hello.");
  });
});

describe("one answer in one piece", () => {
  it("is one update with everything in it, and there only where it was asked for", async () => {
    const { client, server } = await connectResponses({ streaming: false });
    server.reply({ items: [{ reasoning: "hm" }, { text: "One." }, { text: "Two." }] });
    const update = await client.complete?.(QUESTION);
    expect(update).toMatchObject({ role: "assistant", finishReason: "stop", messageId: update?.responseId });
    expect(fold([update ?? {}])).toMatchObject({ text: "One.Two.", reasoning: "hm", finishReason: "stop" });
    expect((await connectResponses()).client.complete).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ["nothing", ""],
    ["no JSON", "<html>"],
    ["no object", 42],
    ["no status", { id: "r", output: [] }],
    ["output that is no list", { id: "r", status: "completed", output: {} }],
  ])("is unavailable when the answer holds %s", async (_, body) => {
    const { client, server } = await connectResponses({ streaming: false });
    server.reply({ status: 200, body });
    expect(await rejection(Promise.resolve(client.complete?.(QUESTION)))).toMatchObject({ code: "unavailable" });
  });
});
