import { describe, expect, it } from "vitest";
import { OpenAIChatClient } from "../src/index.ts";
import { call, collect, connect, fold, message, rejection } from "./helpers.ts";

const QUESTION = [message("user", "Hi")];
const TOOLS = [{ name: "add", parameters: { type: "object" } }];
const WHOLE = { streaming: false } as const;

describe("without streaming", () => {
  it("gives the whole answer as one update, from complete and from stream", async () => {
    const { client, server } = await connect(WHOLE);
    const answer = { text: "Hello.", reasoning: "hm" };
    server.reply({ answer }, { answer });
    const update = await client.complete?.(QUESTION);
    expect(update).toEqual({
      role: "assistant",
      messageId: "chatcmpl-1",
      responseId: "chatcmpl-1",
      model: "test-model",
      createdAt: "2023-11-14T22:13:20.000Z",
      finishReason: "stop",
      contents: [
        { type: "text_reasoning", text: "hm" },
        { type: "text", text: "Hello." },
        { type: "usage", details: { inputTokenCount: 12, outputTokenCount: 7, totalTokenCount: 19 } },
      ],
    });
    const updates = await collect(client.stream(QUESTION));
    expect(updates).toEqual([{ ...update, messageId: "chatcmpl-2", responseId: "chatcmpl-2" }]);
    expect(server.requests[0]?.body).toEqual({
      model: "test-model",
      messages: [{ role: "user", content: "Hi" }],
      stream: false,
    });
  });

  it("keeps calls apart that have no numbers and share an id", async () => {
    const { client, server } = await connect(WHOLE);
    const toolCalls = [
      { id: "x", name: "add", arguments: '{"a":' },
      { id: "x", name: "add", arguments: "2}" },
      { id: "y", name: "add", arguments: "" },
    ];
    server.reply({ answer: { toolCalls } });
    const { calls, finishReason } = fold(await collect(client.stream(QUESTION, { tools: TOOLS })));
    expect(calls.map((entry) => entry.arguments)).toEqual(['{"a":', "2}", ""]);
    expect(calls[0]).toEqual(call("x", "add", '{"a":'));
    expect(new Set(calls.map(({ callId }) => callId)).size).toBe(3);
    expect(finishReason).toBe("tool_calls");
  });

  it("gives a refusal as text", async () => {
    const { client, server } = await connect(WHOLE);
    server.reply({ answer: { refusal: "No." } });
    const updates = await collect(client.stream(QUESTION));
    expect(fold(updates).text).toBe("No.");
    expect(updates[0]?.additionalProperties).toEqual({ refusal: true });
  });

  it.each<[string, unknown]>([
    ["nothing", ""],
    ["no JSON", "<html>"],
    ["no object", 42],
    ["no choice", { choices: [] }],
    ["no message", { choices: [{ index: 0, finish_reason: "stop" }] }],
    ["no finish reason", { choices: [{ index: 0, message: { content: "Half an " } }] }],
    ["an error in place of an answer", { error: { message: "overloaded" } }],
  ])("is unavailable when the answer holds %s", async (_, body) => {
    const { client, server } = await connect(WHOLE);
    server.reply({ status: 200, body }, { status: 200, body });
    expect(await rejection(client.complete!(QUESTION))).toMatchObject({ code: "unavailable" });
    expect(await rejection(collect(client.stream(QUESTION)))).toMatchObject({ code: "unavailable" });
  });

  it("is unavailable when the connection breaks in the middle", async () => {
    const { client, server } = await connect(WHOLE);
    server.reply({ answer: { text: "Hello." }, delivery: { cutAfterBytes: 50 } });
    await expect(client.complete!(QUESTION)).rejects.toMatchObject({ code: "unavailable" });
  });

  it("aborts with the reason of the signal", async () => {
    const { client, server } = await connect(WHOLE, { respond: () => "silence" });
    const controller = new AbortController();
    const waiting = client.complete!(QUESTION, { signal: controller.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(server.requests[0]?.outcome).resolves.toBe("cancelled");
  });

  it("is only offered where it was asked for, so that runs stream otherwise", () => {
    expect(new OpenAIChatClient({ model: "m", apiKey: "k" }).complete).toBeUndefined();
    expect(new OpenAIChatClient({ model: "m", apiKey: "k", streaming: false }).complete).toBeTypeOf("function");
  });
});
