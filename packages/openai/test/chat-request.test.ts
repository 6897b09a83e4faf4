import type { ChatRequestOptions } from "@agentfw/core";
import type { Leniency } from "@agentfw/test-servers/openai";
import { describe, expect, it } from "vitest";
import type { OpenAIChatSettings } from "../src/index.ts";
import { collect, connect, message } from "./helpers.ts";

const QUESTION = [message("user", "Hi")];
const TOOL = {
  name: "weather",
  description: "The weather somewhere.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

/** The body that the strict server took. */
async function bodyFor(
  options: ChatRequestOptions,
  settings: Partial<OpenAIChatSettings> = {},
  leniency: Leniency = {},
): Promise<Readonly<Record<string, unknown>>> {
  const { client, server } = await connect(settings, leniency);
  await collect(client.stream(QUESTION, options));
  return server.requests[0]!.body;
}

async function failureOf(options: ChatRequestOptions, settings: Partial<OpenAIChatSettings> = {}): Promise<unknown> {
  const { client, server } = await connect(settings);
  try {
    await collect(client.stream(QUESTION, options));
  } catch (error) {
    expect(server.requests).toHaveLength(0);
    return error;
  }
  throw new Error("it was expected to fail");
}

describe("the options of a call", () => {
  it("says no more than it was told", async () => {
    expect(await bodyFor({})).toEqual({
      model: "test-model",
      messages: [{ role: "user", content: "Hi" }],
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("maps every option", async () => {
    const body = await bodyFor({
      model: "other-model",
      instructions: "Be brief.",
      temperature: 0,
      topP: 0.5,
      maxOutputTokens: 100,
      frequencyPenalty: -1,
      presencePenalty: 1,
      stopSequences: ["END"],
      seed: 7,
      store: false,
      metadata: { team: "a" },
      tools: [TOOL],
      toolChoice: "required",
      allowMultipleToolCalls: false,
      responseFormat: { name: "answer", schema: { type: "object" }, strict: true },
      additionalProperties: { reasoning_effort: "low", temperature: 1 },
    });
    expect(body).toEqual({
      model: "other-model",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
      ],
      stream: true,
      stream_options: { include_usage: true },
      temperature: 1,
      top_p: 0.5,
      max_completion_tokens: 100,
      frequency_penalty: -1,
      presence_penalty: 1,
      stop: ["END"],
      seed: 7,
      store: false,
      metadata: { team: "a" },
      tools: [{ type: "function", function: TOOL }],
      tool_choice: "required",
      parallel_tool_calls: false,
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", schema: { type: "object" }, strict: true },
      },
      reasoning_effort: "low",
    });
  });

  it("names one tool to call", async () => {
    expect(await bodyFor({ tools: [TOOL], toolChoice: { name: "weather" } })).toMatchObject({
      tool_choice: { type: "function", function: { name: "weather" } },
    });
  });

  it("asks for JSON, and says nothing for plain text", async () => {
    const json = await bodyFor({ instructions: "Answer in JSON.", responseFormat: "json" });
    expect(json["response_format"]).toEqual({ type: "json_object" });
    expect(await bodyFor({ responseFormat: "text" })).not.toHaveProperty("response_format");
  });

  it("leaves out what is empty, and what the service refuses without tools", async () => {
    const nothing = { instructions: "", metadata: {}, stopSequences: [] };
    const body = await bodyFor({ ...nothing, tools: [], toolChoice: "none", allowMultipleToolCalls: true });
    expect(Object.keys(body).sort()).toEqual(["messages", "model", "stream", "stream_options"]);
    expect(body["messages"]).toHaveLength(1);
  });

  it("uses the defaults of the client where the call says nothing", async () => {
    const defaultOptions = {
      temperature: 0.2,
      topP: 0.9,
      additionalProperties: { user: "a", reasoning_effort: "low" },
    };
    const call = { temperature: 0.7, topP: undefined, additionalProperties: { reasoning_effort: "high" } };
    expect(await bodyFor(call, { defaultOptions })).toMatchObject({
      temperature: 0.7,
      top_p: 0.9,
      user: "a",
      reasoning_effort: "high",
    });
  });
});

describe("what servers want differently", () => {
  it("writes instructions as the developer", async () => {
    const body = await bodyFor({ instructions: "Be brief." }, { systemRole: "developer" });
    expect(body["messages"]).toMatchObject([{ role: "developer" }, { role: "user" }]);
  });

  it("limits tokens under the older name", async () => {
    const body = await bodyFor({ maxOutputTokens: 5 }, { maxTokensField: "max_tokens" });
    expect(body["max_tokens"]).toBe(5);
    expect(body).not.toHaveProperty("max_completion_tokens");
  });

  it("passes parameters that only this server knows", async () => {
    const leniency = { parameters: ["top_k"] };
    expect((await bodyFor({ additionalProperties: { top_k: 3 } }, {}, leniency))["top_k"]).toBe(3);
  });
});

describe("options that cannot work", () => {
  it.each<[string, ChatRequestOptions]>([
    ["options.temperature", { temperature: Number.NaN }],
    ["options.additionalProperties.big", { additionalProperties: { big: 1n } }],
    ["options.additionalProperties.stream", { additionalProperties: { stream: false } }],
    ["options.additionalProperties.messages", { additionalProperties: { messages: [] } }],
    ["options.additionalProperties.n", { additionalProperties: { n: 2 } }],
    ["options.toolChoice", { toolChoice: "required" }],
    ["options.toolChoice", { toolChoice: { name: "weather" }, tools: [] }],
  ])("are refused by name before anything is sent: %s %#", async (name, options) => {
    expect(await failureOf(options)).toMatchObject({
      code: "configuration",
      message: expect.stringMatching(`^${name.replaceAll(".", "\\.")}:`),
    });
  });

  it("refuses a tool whose schema goes in circles", async () => {
    const parameters: Record<string, never> = {};
    Reflect.set(parameters, "self", parameters);
    const failure = await failureOf({ tools: [{ name: "loop", parameters }] });
    expect(failure).toMatchObject({ code: "configuration", message: expect.stringContaining("options.tools[0]") });
  });

  it("refuses a conversation that the service would have to keep", async () => {
    expect(await failureOf({ conversationId: "conv_1" })).toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("options.conversationId"),
    });
  });

  it("refuses to send nothing", async () => {
    const { client } = await connect();
    await expect(collect(client.stream([], {}))).rejects.toMatchObject({ code: "configuration" });
    const onlyUsage = message("assistant", { type: "usage", details: {} });
    await expect(collect(client.stream([onlyUsage], {}))).rejects.toMatchObject({ code: "configuration" });
    expect(await collect(client.stream([], { instructions: "Greet." }))).not.toHaveLength(0);
  });
});
