import { isAgentFrameworkError } from "@agentfw/core";
import { APIError, OpenAI } from "openai";
import { describe, expect, it, vi } from "vitest";
import { OpenAIResponsesClient, type OpenAIResponsesClientOptions, type OpenAIResponsesLike } from "../src/index.ts";
import { collect, fold, message, rejection } from "./helpers.ts";
import { connectResponses } from "./responses-helpers.ts";

const QUESTION = [message("user", "Hi")];

describe("the constructor of the client for Responses", () => {
  const own: OpenAIResponsesLike = { responses: { create: async () => ({}) } };

  it.each<[string, unknown]>([
    ["options", undefined],
    ["model", { apiKey: "k" }],
    ["apiKey", { model: "m" }],
    ["apiKey", { model: "m", apiKey: "k", client: own }],
    ["client", { model: "m", client: {} }],
    ["client", { model: "m", client: { chat: { completions: { create: () => undefined } } } }],
    ["baseURL", { model: "m", baseURL: "ftp://example.com" }],
    ["timeoutMs", { model: "m", apiKey: "k", timeoutMs: 0 }],
    ["maxRetries", { model: "m", apiKey: "k", maxRetries: -1 }],
    ["store", { model: "m", apiKey: "k", store: "yes" }],
    ["systemRole", { model: "m", apiKey: "k", systemRole: "user" }],
    ["streaming", { model: "m", apiKey: "k", streaming: 1 }],
    ["encryptedReasoning", { model: "m", apiKey: "k", encryptedReasoning: "no" }],
    ["defaultOptions.store", { model: "m", apiKey: "k", defaultOptions: { store: true } }],
    ["defaultOptions.conversationId", { model: "m", apiKey: "k", defaultOptions: { conversationId: "resp_1" } }],
  ])("refuses by name: %s %#", (name, options) => {
    const construct = () => Reflect.construct(OpenAIResponsesClient, [options]);
    expect(construct).toThrow(expect.objectContaining({ code: "configuration" }));
    expect(construct).toThrow(`${name}: `);
  });

  it("takes undefined for every option that may be left out, and says who keeps conversations", () => {
    const options: OpenAIResponsesClientOptions = {
      model: "m",
      apiKey: "k",
      baseURL: undefined,
      organization: undefined,
      client: undefined,
      timeoutMs: undefined,
      maxRetries: undefined,
      defaultOptions: undefined,
      store: undefined,
      systemRole: undefined,
      streaming: undefined,
      encryptedReasoning: undefined,
    };
    expect(new OpenAIResponsesClient(options)).toMatchObject({ contractVersion: 1, storesByDefault: true, model: "m" });
    expect(new OpenAIResponsesClient({ ...options, store: false }).storesByDefault).toBe(false);
  });
});

describe("a client of one's own for Responses", () => {
  it("may be the official SDK's, with its own address and credentials", async () => {
    const { server } = await connectResponses();
    const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.baseURL, defaultHeaders: { "x-gateway": "1" } });
    const updates = await collect(new OpenAIResponsesClient({ model: "m", client, maxRetries: 0 }).stream(QUESTION));
    expect(fold(updates).text).toBe("Hello.");
    expect(server.requests[0]?.headers).toMatchObject({ "x-gateway": "1", authorization: "Bearer test-key" });
  });

  it("is told the limits", async () => {
    const response = { id: "resp_1", status: "completed", output: [] };
    const create = vi.fn(async (_body: object, _options?: object) =>
      (async function* () {
        yield { type: "response.completed", response };
      })(),
    );
    const client = new OpenAIResponsesClient({ model: "m", client: { responses: { create } }, maxRetries: 1 });
    expect((await collect(client.stream(QUESTION))).at(-1)?.conversationId).toBe("resp_1");
    expect(create.mock.calls[0]?.[1]).toEqual({ timeout: 300_000, maxRetries: 1, signal: expect.any(AbortSignal) });
  });

  it("that cannot say what a conversation waits for leaves the refusal as it is", async () => {
    const refusal = new APIError(400, { param: "input", message: "x" }, undefined, new Headers());
    const create = () => Promise.reject(refusal);
    const failing = { items: { list: () => Promise.reject(new Error("down")) } };
    for (const conversations of [undefined, failing, { items: { list: async () => ({}) } }]) {
      const client = new OpenAIResponsesClient({ model: "m", client: { responses: { create }, conversations } });
      for (const conversationId of ["conv_1", "resp_1"]) {
        const failure = await rejection(collect(client.stream(QUESTION, { conversationId })));
        expect(failure).toMatchObject({ code: "configuration", cause: refusal });
      }
    }
  });

  it("that is aborted while it is asked what a conversation waits for throws the reason", async () => {
    const controller = new AbortController();
    const create = () => Promise.reject(new APIError(400, { param: "input" }, undefined, new Headers()));
    const list = () => {
      controller.abort(new Error("enough"));
      return new Promise(() => undefined);
    };
    const client = new OpenAIResponsesClient({
      model: "m",
      client: { responses: { create }, conversations: { items: { list } } },
    });
    const options = { conversationId: "conv_1", signal: controller.signal };
    await expect(collect(client.stream(QUESTION, options))).rejects.toThrow("enough");
  });

  it.each([
    () => {
      throw new TypeError("boom");
    },
    () => Promise.resolve(undefined),
    () => Promise.resolve({}),
  ])("that breaks the rules is unavailable, not an empty answer: %#", async (create) => {
    const client = new OpenAIResponsesClient({ model: "m", client: { responses: { create } } });
    const failure = await rejection(collect(client.stream(QUESTION)));
    expect(isAgentFrameworkError(failure, "unavailable")).toBe(true);
  });
});
