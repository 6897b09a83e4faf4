import type { ChatRequestOptions } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { collect, message, rejection } from "./helpers.ts";
import { connectResponses } from "./responses-helpers.ts";

const QUESTION = [message("user", "Hi, answer in JSON")];
const TOOLS = [{ name: "add", description: "Adds.", parameters: { type: "object" } }];

async function bodyOf(options: ChatRequestOptions, settings: Parameters<typeof connectResponses>[0] = {}) {
  const { client, server } = await connectResponses(settings);
  await collect(client.stream(QUESTION, options));
  const { input: _, ...body } = server.requests[0]?.body ?? {};
  return body;
}

describe("a request", () => {
  it("says no more than it was told, and always whether the service is to keep the answer", async () => {
    expect(await bodyOf({})).toEqual({ model: "test-model", store: true, stream: true });
    expect(await bodyOf({}, { streaming: false })).toEqual({ model: "test-model", store: true, stream: false });
  });

  it("asks for encrypted reasoning where the service keeps nothing, unless that is switched off", async () => {
    const include = ["reasoning.encrypted_content"];
    expect(await bodyOf({ store: false })).toMatchObject({ store: false, include });
    expect(await bodyOf({}, { store: false })).toMatchObject({ store: false, include });
    expect(await bodyOf({ store: true }, { store: false })).not.toHaveProperty("include");
    expect(await bodyOf({}, { store: false, encryptedReasoning: false })).not.toHaveProperty("include");
  });

  it("carries every option under the service's name for it", async () => {
    const body = await bodyOf({
      model: "other",
      instructions: "Be brief.",
      temperature: 0.5,
      topP: 0.9,
      maxOutputTokens: 100,
      metadata: { a: "b" },
      tools: TOOLS,
      toolChoice: { name: "add" },
      allowMultipleToolCalls: false,
      responseFormat: { name: "sum", schema: { type: "object" }, strict: true },
    });
    expect(body).toEqual({
      model: "other",
      store: true,
      stream: true,
      instructions: "Be brief.",
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      metadata: { a: "b" },
      tools: [{ type: "function", name: "add", description: "Adds.", parameters: { type: "object" }, strict: false }],
      tool_choice: { type: "function", name: "add" },
      parallel_tool_calls: false,
      text: { format: { type: "json_schema", name: "sum", schema: { type: "object" }, strict: true } },
    });
    expect(await bodyOf({ responseFormat: "json" })).toMatchObject({ text: { format: { type: "json_object" } } });
    expect(await bodyOf({ responseFormat: "text", instructions: "", metadata: {} })).not.toHaveProperty("text");
  });

  it("adds the service's own tools and includes to ours, and takes other parameters as they are", async () => {
    const hosted = { type: "web_search" };
    const sources = "web_search_call.action.sources";
    const body = await bodyOf({
      store: false,
      tools: TOOLS,
      toolChoice: "auto",
      additionalProperties: { tools: [hosted], include: [sources], reasoning: { effort: "low" } },
    });
    expect(body).toMatchObject({
      tools: [{ name: "add" }, hosted],
      include: [sources, "reasoning.encrypted_content"],
      reasoning: { effort: "low" },
    });
  });

  it("takes the client's own options where the call says nothing", async () => {
    const defaultOptions = { temperature: 0, additionalProperties: { truncation: "auto" } };
    const body = await bodyOf({ temperature: 1 }, { defaultOptions });
    expect(body).toMatchObject({ temperature: 1, truncation: "auto" });
  });
});

describe("a request that cannot work", () => {
  it.each<[string, string, ChatRequestOptions]>([
    ["unsupported", "options.seed", { seed: 1 }],
    ["unsupported", "options.stopSequences", { stopSequences: ["x"] }],
    ["unsupported", "options.frequencyPenalty", { frequencyPenalty: 0 }],
    ["unsupported", "options.presencePenalty", { presencePenalty: 0 }],
    ["configuration", "options.toolChoice", { toolChoice: "required" }],
    ["configuration", "options.conversationId", { conversationId: "" }],
    ["configuration", "options.additionalProperties.background", { additionalProperties: { background: true } }],
    ["configuration", "options.additionalProperties.store", { additionalProperties: { store: false } }],
    ["configuration", "options.additionalProperties.tools", { additionalProperties: { tools: [7] } }],
    ["configuration", "options.additionalProperties.include", { additionalProperties: { include: "x" } }],
    ["configuration", "options.temperature", { temperature: Number.NaN }],
  ])("is %s, by name, and nothing is sent: %s", async (code, name, options) => {
    const { client, server } = await connectResponses();
    const failure = await rejection(collect(client.stream(QUESTION, options)));
    expect(failure).toMatchObject({ code, message: expect.stringContaining(name) });
    expect(server.requests).toHaveLength(0);
  });

  it("is configuration when nothing is left for the model", async () => {
    const { client, server } = await connectResponses();
    const options = { instructions: "Be brief.", conversationId: "resp_1" };
    const failure = await rejection(collect(client.stream([message("user", "")], options)));
    expect(failure).toMatchObject({ code: "configuration", message: expect.stringContaining("messages: ") });
    expect(server.requests).toHaveLength(0);
  });
});
