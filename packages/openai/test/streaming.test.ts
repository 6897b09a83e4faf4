import { DONE, streamOf } from "@agentfw/test-servers/openai";
import { describe, expect, it } from "vitest";
import { collect, connect, fold, message, rejection } from "./helpers.ts";

const QUESTION = [message("user", "What is the weather in Zürich?")];

function chunk(delta: object, finishReason: string | null = null, more: object = {}): object {
  return {
    id: "chatcmpl-7",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "test-model-0613",
    choices: [{ index: 0, delta, finish_reason: finishReason }],
    ...more,
  };
}

describe("a streamed answer", () => {
  it("gives text pieces, then the finish reason and the usage, and says once whose answer it is", async () => {
    const { client, server } = await connect();
    server.reply({ answer: { text: "It is sunny in Zürich ☀️." } });
    const updates = await collect(client.stream(QUESTION, {}));
    expect(fold(updates)).toEqual({
      text: "It is sunny in Zürich ☀️.",
      reasoning: "",
      calls: [],
      usage: [{ inputTokenCount: 12, outputTokenCount: 7, totalTokenCount: 19 }],
      finishReason: "stop",
    });
    expect(updates.length).toBeGreaterThan(3);
    expect(updates[0]).toMatchObject({
      role: "assistant",
      messageId: "chatcmpl-1",
      responseId: "chatcmpl-1",
      model: "test-model",
      createdAt: "2023-11-14T22:13:20.000Z",
    });
    for (const later of updates.slice(1)) {
      expect(later).not.toHaveProperty("role");
      expect(later).not.toHaveProperty("messageId");
    }
  });

  it.each([1, 2, 3, 7, 64])("comes out the same however the bytes are cut: %i at a time", async (splitBytes) => {
    const { client, server } = await connect();
    const answer = {
      text: "Grüße 👩‍👩‍👧 日本語\r\n\n: data: [DONE]",
      toolCalls: [{ id: "c1", name: "weather", arguments: '{"city":"Zürich 👋"}' }],
    };
    server.reply({ answer, delivery: { splitBytes } });
    const { text, calls } = fold(await collect(client.stream(QUESTION, {})));
    expect(text).toBe(answer.text);
    expect(calls).toEqual([
      { type: "function_call", callId: "c1", name: "weather", arguments: '{"city":"Zürich 👋"}' },
    ]);
  });

  it("hands on each piece when it arrives, not at the end", async () => {
    const { client, server } = await connect();
    const start = streamOf({ text: "first" }, "chatcmpl-7", "m", true).slice(0, 2);
    const bytes = start.map((piece) => `data: ${JSON.stringify(piece)}\n\n`).join("");
    server.reply({ stream: [bytes, "data: never sent"], delivery: { stallAfterBytes: Buffer.byteLength(bytes) } });
    for await (const update of client.stream(QUESTION, {})) {
      expect(update.contents).toEqual([{ type: "text", text: "first" }]);
      break;
    }
    await expect(server.requests[0]?.outcome).resolves.toBe("cancelled");
  });

  it("has no empty pieces", async () => {
    const { client, server } = await connect();
    const empty = [{ content: "" }, { content: null, reasoning_content: "", refusal: "" }, {}];
    server.reply({ stream: [...empty.map((delta) => chunk(delta)), chunk({ content: "x" }), chunk({}, "stop"), DONE] });
    const updates = await collect(client.stream(QUESTION, {}));
    expect(updates.map((update) => update.contents)).toEqual([[{ type: "text", text: "x" }], []]);
  });

  it("gives a refusal as text and marks the message", async () => {
    const { client, server } = await connect();
    server.reply({ answer: { refusal: "I cannot help with that." } });
    const updates = await collect(client.stream(QUESTION, {}));
    expect(fold(updates).text).toBe("I cannot help with that.");
    for (const update of updates.slice(0, -1)) {
      expect(update).toMatchObject({ additionalProperties: { refusal: true } });
      expect(update.contents).toEqual([{ type: "text", text: expect.any(String) }]);
    }
  });

  it.each(["stop", "length", "content_filter", "something_new"])("hands on the finish reason %s", async (reason) => {
    const { client, server } = await connect();
    server.reply({ answer: { text: "Hm", finishReason: reason } });
    expect(fold(await collect(client.stream(QUESTION, {}))).finishReason).toBe(reason);
  });

  it("reads cached and reasoning tokens", async () => {
    const { client, server } = await connect();
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 64 },
      completion_tokens_details: { reasoning_tokens: 15 },
    };
    server.reply({ answer: { text: "Hm", usage } });
    expect(fold(await collect(client.stream(QUESTION, {}))).usage).toEqual([
      {
        inputTokenCount: 100,
        outputTokenCount: 20,
        totalTokenCount: 120,
        cachedInputTokenCount: 64,
        reasoningTokenCount: 15,
      },
    ]);
  });
});

describe("streams of compatible servers", () => {
  it.each(["reasoning_content", "reasoning"])("gives what comes as %s as reasoning", async (field) => {
    const { client, server } = await connect();
    const deltas = [{ [field]: "Let me " }, { [field]: "think." }, { content: "Yes." }];
    server.reply({ stream: [...deltas.map((delta) => chunk(delta)), chunk({}, "stop"), DONE] });
    expect(fold(await collect(client.stream(QUESTION, {})))).toMatchObject({
      reasoning: "Let me think.",
      text: "Yes.",
    });
  });

  it("does not give reasoning twice when it comes under both names", async () => {
    const { client, server } = await connect();
    server.reply({ stream: [chunk({ reasoning_content: "a", reasoning: "a" }), chunk({}, "stop"), DONE] });
    expect(fold(await collect(client.stream(QUESTION, {}))).reasoning).toBe("a");
  });

  it("reads content that comes in parts and keeps a part that it does not know", async () => {
    const { client, server } = await connect();
    const parts = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "Yes." },
      { type: "reference", reference_ids: [1] },
    ];
    server.reply({ stream: [chunk({ content: parts }), chunk({}, "stop"), DONE] });
    const [first] = await collect(client.stream(QUESTION, {}));
    expect(first?.contents).toEqual([
      { type: "text_reasoning", text: "hm" },
      { type: "text", text: "Yes." },
      { type: "unknown", raw: { type: "reference", reference_ids: [1] } },
    ]);
  });

  it("counts the usage once when it comes with every piece", async () => {
    const { client, server } = await connect();
    const usage = (count: number) => ({
      usage: { prompt_tokens: 5, completion_tokens: count, total_tokens: 5 + count },
    });
    server.reply({
      stream: [chunk({ content: "a" }, null, usage(1)), chunk({ content: "b" }, "stop", usage(2)), DONE],
    });
    expect(fold(await collect(client.stream(QUESTION, {}))).usage).toEqual([
      { inputTokenCount: 5, outputTokenCount: 2, totalTokenCount: 7 },
    ]);
  });

  it("stays one message when the id changes on the way or is empty at first", async () => {
    const { client, server } = await connect();
    const stream = [
      { id: "", object: "", created: 0, model: "", choices: [], prompt_filter_results: [] },
      chunk({ content: "a" }),
      chunk({ content: "b" }, null, { id: "chatcmpl-8" }),
      chunk({}, "stop", { id: "chatcmpl-9" }),
      DONE,
    ];
    server.reply({ stream });
    const updates = await collect(client.stream(QUESTION, {}));
    expect(updates.flatMap((update) => update.messageId ?? [])).toEqual(["chatcmpl-7"]);
  });

  it("reads an answer without usage, without the end mark, and with comments between", async () => {
    const { client, server } = await connect({ includeUsage: false });
    server.reply({ stream: [": still working\n\n", chunk({ content: "a", role: "assistant" }), chunk({}, "stop")] });
    expect(fold(await collect(client.stream(QUESTION, {})))).toMatchObject({ text: "a", usage: [] });
    expect(server.requests[0]?.body).not.toHaveProperty("stream_options");
  });
});

describe("an answer that breaks off", () => {
  it.each<[string, (object | string)[]]>([
    ["ends without a finish reason", [chunk({ content: "Half an " })]],
    ["ends with the end mark but without a finish reason", [chunk({ content: "Half an " }), DONE]],
    ["has an empty finish reason", [chunk({ content: "Half an " }), chunk({}, ""), DONE]],
    ["holds a broken chunk", [chunk({ content: "Half an " }), 'data: {"choices":[{"del\n\n', chunk({}, "stop"), DONE]],
    ["holds a chunk that is none", [chunk({ content: "Half an " }), "data: 42\n\n", chunk({}, "stop"), DONE]],
    ["holds choices that are none", [chunk({ content: "Half an " }), { choices: "x" }, chunk({}, "stop"), DONE]],
    ["holds content that is none", [chunk({ content: "Half an " }), chunk({ content: 7 }), chunk({}, "stop"), DONE]],
    ["reports an error", [chunk({ content: "Half an " }), { error: { message: "overloaded", type: "server_error" } }]],
    [
      "reports an error in another form",
      [chunk({ content: "Half an " }), { object: "error" }, chunk({}, "stop"), DONE],
    ],
  ])("is unavailable after its pieces when it %s", async (_, stream) => {
    const { client, server } = await connect();
    server.reply({ stream });
    const pieces: unknown[] = [];
    const reading = (async () => {
      for await (const update of client.stream(QUESTION, {})) {
        pieces.push(update.contents);
      }
    })();
    expect(await rejection(reading)).toMatchObject({ code: "unavailable", retryable: true, provider: "openai" });
    expect(pieces).toEqual([[{ type: "text", text: "Half an " }]]);
  });

  it("is unavailable when the connection breaks at any byte, and never a complete answer", async () => {
    const { client, server } = await connect();
    const bytes = streamOf({ text: "Hi" }, "chatcmpl-1", "test-model", true)
      .map((piece) => (typeof piece === "string" ? piece : `data: ${JSON.stringify(piece)}\n\n`))
      .join("");
    for (let cutAfterBytes = 0; cutAfterBytes < bytes.length; cutAfterBytes += 13) {
      server.reply({ answer: { text: "Hi" }, delivery: { cutAfterBytes } });
      await expect(collect(client.stream(QUESTION, {}))).rejects.toMatchObject({ code: "unavailable" });
    }
  });

  it("is unavailable when there is nothing in it at all", async () => {
    const { client, server } = await connect();
    server.reply({ stream: [] }, { status: 200, body: "" }, { status: 200, body: { choices: [] } });
    for (let count = 0; count < 3; count += 1) {
      await expect(collect(client.stream(QUESTION, {}))).rejects.toMatchObject({ code: "unavailable" });
    }
  });

  it("keeps the code of an error in the middle that says more", async () => {
    const { client, server } = await connect();
    server.reply(
      { stream: [chunk({ content: "a" }), { error: { message: "too long", code: "context_length_exceeded" } }] },
      { stream: [chunk({ content: "a" }), { error: { message: "no", code: 401 } }] },
    );
    await expect(collect(client.stream(QUESTION, {}))).rejects.toMatchObject({ code: "too_large" });
    await expect(collect(client.stream(QUESTION, {}))).rejects.toMatchObject({ code: "unauthorized" });
  });
});
