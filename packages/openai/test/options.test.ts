import { AgentFrameworkError, isAgentFrameworkError } from "@agentfw/core";
import { OpenAI } from "openai";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  OpenAIChatClient,
  type OpenAIChatClientOptions,
  type OpenAILike,
  openAIOptionsFromEnvironment,
} from "../src/index.ts";
import { BOTH_APIS } from "./both-apis.ts";
import { collect, connect, fold, message, rejection } from "./helpers.ts";

const QUESTION = [message("user", "Hi")];

afterEach(() => vi.unstubAllEnvs());

describe("the constructor", () => {
  const own: OpenAILike = { chat: { completions: { create: async () => ({}) } } };

  it.each<[string, unknown]>([
    ["options", undefined],
    ["model", { apiKey: "k" }],
    ["model", { model: "", apiKey: "k" }],
    ["apiKey", { model: "m" }],
    ["apiKey", { model: "m", apiKey: "" }],
    ["apiKey", { model: "m", apiKey: "key with spaces" }],
    ["apiKey", { model: "m", apiKey: "key\n" }],
    ["apiKey", { model: "m", apiKey: 7 }],
    ["apiKey", { model: "m", apiKey: "k", client: own }],
    ["baseURL", { model: "m", baseURL: "https://example.com", client: own }],
    ["organization", { model: "m", organization: "o", client: own }],
    ["client", { model: "m", client: {} }],
    ["client", { model: "m", client: null }],
    ["baseURL", { model: "m", baseURL: "example.com/v1" }],
    ["baseURL", { model: "m", baseURL: "ftp://example.com" }],
    ["baseURL", { model: "m", baseURL: "https://user:pass@example.com" }],
    ["baseURL", { model: "m", baseURL: "https://example.com/v1?key=s3cret" }],
    ["organization", { model: "m", apiKey: "k", organization: "" }],
    ["timeoutMs", { model: "m", apiKey: "k", timeoutMs: 0 }],
    ["timeoutMs", { model: "m", apiKey: "k", timeoutMs: Number.POSITIVE_INFINITY }],
    ["maxRetries", { model: "m", apiKey: "k", maxRetries: -1 }],
    ["maxRetries", { model: "m", apiKey: "k", maxRetries: 1.5 }],
    ["systemRole", { model: "m", apiKey: "k", systemRole: "user" }],
    ["maxTokensField", { model: "m", apiKey: "k", maxTokensField: "tokens" }],
    ["reasoningField", { model: "m", apiKey: "k", reasoningField: "thoughts" }],
    ["streaming", { model: "m", apiKey: "k", streaming: "no" }],
    ["includeUsage", { model: "m", apiKey: "k", includeUsage: 1 }],
    ["joinTexts", { model: "m", apiKey: "k", joinTexts: 1 }],
    ["defaultOptions", { model: "m", apiKey: "k", defaultOptions: [] }],
    ["defaultOptions.instructions", { model: "m", apiKey: "k", defaultOptions: { instructions: "x" } }],
    ["defaultOptions.temperature", { model: "m", apiKey: "k", defaultOptions: { temperature: Number.NaN } }],
  ])("refuses by name: %s %#", (name, options) => {
    const construct = () => Reflect.construct(OpenAIChatClient, [options]);
    expect(construct).toThrow(expect.objectContaining({ code: "configuration" }));
    expect(construct).toThrow(`${name}: `);
    expect(construct).not.toThrow(/s3cret|pass@/);
  });

  it("takes undefined for every option that may be left out", () => {
    const options: OpenAIChatClientOptions = {
      model: "m",
      apiKey: "k",
      baseURL: undefined,
      organization: undefined,
      client: undefined,
      timeoutMs: undefined,
      maxRetries: undefined,
      defaultOptions: undefined,
      systemRole: undefined,
      maxTokensField: undefined,
      streaming: undefined,
      includeUsage: undefined,
      joinTexts: undefined,
      reasoningField: undefined,
    };
    expect(new OpenAIChatClient(options)).toMatchObject({ contractVersion: 1, storesByDefault: false, model: "m" });
  });
});

describe.each(BOTH_APIS)("$name: credentials", ({ connect, makeClient }) => {
  it("come from a function that is asked once a call", async () => {
    const { server } = await connect();
    const apiKey = vi.fn(async () => "test-key");
    const client = makeClient({ apiKey, baseURL: server.baseURL });
    await collect(client.stream(QUESTION));
    await collect(client.stream(QUESTION));
    expect(apiKey).toHaveBeenCalledTimes(2);
  });

  it("of one call never travel with another that runs beside it", async () => {
    const { server } = await connect({}, { apiKey: "other" });
    let count = 0;
    const apiKey = async () => {
      count += 1;
      const key = `key-${count}`;
      await new Promise((resolve) => setTimeout(resolve, 20 - count));
      return key;
    };
    const client = makeClient({ apiKey, baseURL: server.baseURL, maxRetries: 0 });
    await Promise.all(Array.from({ length: 16 }, () => rejection(collect(client.stream(QUESTION)))));
    const keys = server.requests.map(({ headers }) => headers.authorization);
    expect(new Set(keys).size).toBe(16);
  });

  it("are not sent to a server that asks for none", async () => {
    const { server } = await connect({}, { apiKey: null });
    vi.stubEnv("OPENAI_API_KEY", "sk-environment");
    const client = makeClient({ baseURL: server.baseURL });
    await collect(client.stream(QUESTION));
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
  });

  it("that cannot be had are an error before anything is sent", async () => {
    const { server } = await connect();
    const failing = (apiKey: () => string) =>
      rejection(collect(makeClient({ apiKey, baseURL: server.baseURL }).stream(QUESTION)));
    const cause = new Error("vault sealed: s3cret");
    const failure = await failing(() => {
      throw cause;
    });
    expect(failure).toMatchObject({ code: "unavailable", cause });
    expect(String(failure)).not.toContain("s3cret");
    const ours = new AgentFrameworkError("unauthorized", "the session has expired");
    const passedOn = await failing(() => {
      throw ours;
    });
    expect(passedOn).toBe(ours);
    expect(await failing(() => "")).toMatchObject({ code: "configuration" });
    expect(await failing(() => "two\nlines")).toMatchObject({ code: "configuration" });
    expect(server.requests).toHaveLength(0);
  });

  it("name the organization", async () => {
    const { server } = await connect();
    const { baseURL } = server;
    await collect(makeClient({ apiKey: "test-key", baseURL, organization: "org-1" }).stream(QUESTION));
    expect(server.requests[0]?.headers).toMatchObject({
      "openai-organization": "org-1",
      authorization: "Bearer test-key",
    });
  });
});

describe.each(BOTH_APIS)("$name: the environment", ({ connect, makeClient }) => {
  it("does not change where requests go or what they carry", async () => {
    const { server } = await connect();
    vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    vi.stubEnv("OPENAI_API_KEY", "sk-environment");
    vi.stubEnv("OPENAI_ORG_ID", "org-environment");
    vi.stubEnv("OPENAI_PROJECT_ID", "proj-environment");
    vi.stubEnv("OPENAI_LOG", "debug");
    const { baseURL, apiKey } = server;
    await collect(makeClient({ apiKey, baseURL }).stream(QUESTION));
    const { headers } = server.requests[0]!;
    expect(JSON.stringify(headers)).not.toMatch(/environment/i);
    expect(headers).not.toHaveProperty("openai-project");
    expect(headers).not.toHaveProperty("openai-organization");
    expect(headers.authorization).toBe("Bearer test-key");
  });

  it("adds no headers of its own and takes none away", async () => {
    const { server } = await connect();
    const custom = ["X-Environment: 1", "Authorization: Bearer sk-environment", "OpenAI-Organization: org-environment"];
    vi.stubEnv("OPENAI_CUSTOM_HEADERS", custom.join("\n"));
    const { baseURL, apiKey } = server;
    await collect(makeClient({ apiKey, baseURL, organization: "org-1" }).stream(QUESTION));
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: "Bearer test-key",
      "openai-organization": "org-1",
    });
    expect(JSON.stringify(server.requests[0]?.headers)).not.toMatch(/environment/i);
  });
});

describe("the environment", () => {
  it("is read by the named helper only", () => {
    expect(openAIOptionsFromEnvironment({ OPENAI_API_KEY: "k" })).toEqual({ apiKey: "k" });
    expect(openAIOptionsFromEnvironment({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: "", OPENAI_MODEL: "" })).toEqual({
      apiKey: "k",
    });
    vi.stubEnv("OPENAI_API_KEY", "k2");
    vi.stubEnv("OPENAI_BASE_URL", "https://example.com/v1");
    vi.stubEnv("OPENAI_MODEL", "m2");
    const found = openAIOptionsFromEnvironment();
    expect(found).toEqual({ apiKey: "k2", baseURL: "https://example.com/v1", model: "m2" });
    expect(new OpenAIChatClient({ model: "m1", ...found }).model).toBe("m2");
  });

  it.each([{}, { OPENAI_API_KEY: "" }])("names the variable that is missing: %j", (environment) => {
    const read = () => openAIOptionsFromEnvironment(environment);
    expect(read).toThrow(expect.objectContaining({ code: "configuration" }));
    expect(read).toThrow("OPENAI_API_KEY: must");
  });
});

describe("a client of one's own", () => {
  it("may be the official SDK's, with its own address and credentials", async () => {
    const { server } = await connect();
    const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.baseURL, defaultHeaders: { "x-gateway": "1" } });
    const updates = await collect(new OpenAIChatClient({ model: "m", client, maxRetries: 0 }).stream(QUESTION));
    expect(fold(updates).text).toBe("Hello.");
    expect(server.requests[0]?.headers).toMatchObject({ "x-gateway": "1", authorization: "Bearer test-key" });
  });

  it("may be anything of that shape, and is told the limits", async () => {
    const create = vi.fn(async (_body: object, _options?: object) =>
      (async function* () {
        yield { choices: [{ delta: { content: "Hi" }, finish_reason: "stop" }] };
      })(),
    );
    const client = new OpenAIChatClient({ model: "m", client: { chat: { completions: { create } } }, maxRetries: 1 });
    expect(fold(await collect(client.stream(QUESTION))).text).toBe("Hi");
    expect(create.mock.calls[0]?.[1]).toEqual({ timeout: 300_000, maxRetries: 1, signal: expect.any(AbortSignal) });
  });

  it.each([
    () => {
      throw new TypeError("boom");
    },
    () => Promise.resolve(undefined),
    () => Promise.resolve({}),
  ])("that breaks the rules is unavailable, not an empty answer: %#", async (create) => {
    const client = new OpenAIChatClient({ model: "m", client: { chat: { completions: { create } } } });
    const failure = await rejection(collect(client.stream(QUESTION)));
    expect(isAgentFrameworkError(failure, "unavailable")).toBe(true);
  });
});
