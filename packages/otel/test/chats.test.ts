import type { Content } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { agentOf, failureOf, model, piece, SpanKind, useAsyncContext, Watch } from "./support.ts";

useAsyncContext();

const usage: Content = {
  type: "usage",
  details: {
    inputTokenCount: 100,
    outputTokenCount: 7,
    totalTokenCount: 107,
    cachedInputTokenCount: 64,
    reasoningTokenCount: 3,
  },
};

describe("the span of a model call", () => {
  it("carries what was asked for and what came back", async () => {
    const watch = new Watch({ providerName: "openai" });
    const client = model([
      { contents: [{ type: "text", text: "Hi" }], responseId: "resp-1", model: "gpt-x-2026" },
      { contents: [usage], finishReason: "stop" },
    ]);
    await agentOf(watch, client).run("go", {
      chatOptions: {
        model: "gpt-x",
        temperature: 0.5,
        topP: 0.9,
        maxOutputTokens: 50,
        frequencyPenalty: 0.1,
        presencePenalty: 0.2,
        seed: 7,
        stopSequences: ["END"],
        responseFormat: "json",
      },
    });
    const { kind, attributes } = watch.span("chat gpt-x");
    expect(kind).toBe(SpanKind.CLIENT);
    expect(attributes).toEqual({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-x",
      "gen_ai.request.temperature": 0.5,
      "gen_ai.request.top_p": 0.9,
      "gen_ai.request.max_tokens": 50,
      "gen_ai.request.frequency_penalty": 0.1,
      "gen_ai.request.presence_penalty": 0.2,
      "gen_ai.request.seed": 7,
      "gen_ai.request.stop_sequences": ["END"],
      "gen_ai.output.type": "json",
      "gen_ai.response.id": "resp-1",
      "gen_ai.response.model": "gpt-x-2026",
      "gen_ai.response.finish_reasons": ["stop"],
      "gen_ai.usage.input_tokens": 100,
      "gen_ai.usage.output_tokens": 7,
      "gen_ai.usage.cache_read.input_tokens": 64,
      "gen_ai.usage.reasoning.output_tokens": 3,
      "gen_ai.request.stream": true,
      "gen_ai.response.time_to_first_chunk": expect.any(Number),
    });
  });

  it("calls nothing a stream that came in one piece", async () => {
    const watch = new Watch();
    await agentOf(watch, model([piece("whole")])).run("go");
    expect(Object.keys(watch.span("chat").attributes)).toEqual(["gen_ai.operation.name", "gen_ai.provider.name"]);
  });

  it("keeps what an answer that broke off had told", async () => {
    const watch = new Watch();
    const client = model(async function* () {
      yield { responseId: "resp-1", contents: [usage] };
      throw new TypeError("broken pipe");
    });
    await failureOf(agentOf(watch, client).run("go"));
    expect(watch.span("chat").attributes).toMatchObject({
      "error.type": "TypeError",
      "gen_ai.response.id": "resp-1",
      "gen_ai.usage.input_tokens": 100,
    });
  });
});
