import { AgentFrameworkError } from "@agentfw/core";
import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from "openai";
import { describe, expect, it } from "vitest";
import { brokenAnswer, toOpenAIError } from "../src/errors.ts";
import { BOTH_APIS } from "./both-apis.ts";
import { collect, message, rejection } from "./helpers.ts";

const QUESTION = [message("user", "Hi")];
const SECRET = "sk-proj-Secret0123456789";

function apiError(status: number | undefined, body: object): Error {
  return new APIError(status, body, undefined, new Headers());
}

describe("the table of errors", () => {
  it.each<[string, unknown, string]>([
    ["400", apiError(400, {}), "configuration"],
    ["401", apiError(401, {}), "unauthorized"],
    ["402", apiError(402, {}), "unavailable"],
    ["403", apiError(403, {}), "unauthorized"],
    ["404", apiError(404, {}), "not_found"],
    ["404 for a model", apiError(404, { code: "model_not_found" }), "configuration"],
    ["405", apiError(405, {}), "configuration"],
    ["408", apiError(408, {}), "timeout"],
    ["409", apiError(409, {}), "conflict"],
    ["413", apiError(413, {}), "too_large"],
    ["422", apiError(422, {}), "configuration"],
    ["429", apiError(429, {}), "unavailable"],
    ["429 for the quota", apiError(429, { code: "insufficient_quota" }), "unavailable"],
    ["500", apiError(500, {}), "unavailable"],
    ["503", apiError(503, {}), "unavailable"],
    ["529", apiError(529, {}), "unavailable"],
    ["400 for the context", apiError(400, { code: "context_length_exceeded" }), "too_large"],
    ["400 for the context, as a type", apiError(400, { type: "exceed_context_size_error" }), "too_large"],
    ["400 for the context, in words", apiError(400, { message: "maximum context length is 10" }), "too_large"],
    ["500 that speaks of the context", apiError(500, { message: "context length" }), "unavailable"],
    ["400 for a long text", apiError(400, { code: "string_above_max_length" }), "too_large"],
    ["no status", apiError(undefined, { message: "overloaded" }), "unavailable"],
    ["no status but a numeric code", apiError(undefined, { code: 429 }), "unavailable"],
    ["no status but a refusal as code", apiError(undefined, { code: 400 }), "configuration"],
    ["no status but a code that is none", apiError(undefined, { code: 20 }), "unavailable"],
    ["no connection", new APIConnectionError({ cause: new Error("ECONNREFUSED") }), "unavailable"],
    ["a timeout of the driver", new APIConnectionTimeoutError(), "timeout"],
    ["an abort that nobody asked for", new APIUserAbortError(), "unavailable"],
    ["a broken stream", new TypeError("terminated"), "unavailable"],
    ["broken JSON", new SyntaxError("Unexpected token"), "unavailable"],
    ["something that is no error", "boom", "unavailable"],
    ["nothing", undefined, "unavailable"],
  ])("%s", (_, error, code) => {
    const ours = toOpenAIError(error, "chat completion");
    expect(ours).toMatchObject({ code, provider: "openai" });
    expect(ours.cause).toBe(error);
    expect(ours.message).toMatch(/^\[openai\] chat completion failed: /);
  });

  it("knows the timeout of another installed copy of the driver", () => {
    const other = { APIConnectionTimeoutError: class extends Error {} }.APIConnectionTimeoutError;
    Object.defineProperty(other, "name", { value: "APIConnectionTimeoutError" });
    expect(toOpenAIError(new other("Request timed out."), "chat completion").code).toBe("timeout");
  });

  it("leaves an error of the framework as it is", () => {
    const error = new AgentFrameworkError("conflict", "mine");
    expect(toOpenAIError(error, "chat completion")).toBe(error);
    expect(brokenAnswer("x").code).toBe("unavailable");
  });

  it("names status, code and parameter", () => {
    const error = apiError(400, { code: "invalid_value", param: "messages.[1].content[0].image_url", type: "x" });
    expect(toOpenAIError(error, "chat completion").message).toBe(
      "[openai] chat completion failed: the service refused the request" +
        " (status 400, invalid_value, parameter messages.[1].content[0].image_url)",
    );
  });

  it("quotes nothing that could be a secret, a text or an address", () => {
    for (const leak of [
      SECRET,
      "My password is hunter two",
      "https://user:pass@host/v1",
      "Bearer abc",
      "a".repeat(99),
    ]) {
      const error = apiError(400, { message: leak, code: leak, type: leak, param: leak });
      expect(toOpenAIError(error, "chat completion").message).toBe(
        "[openai] chat completion failed: the service refused the request (status 400)",
      );
    }
  });
});

describe.each(BOTH_APIS)("$name: errors of a server", ({ connect, makeClient }) => {
  it("keeps the key and the body out of the message and gives the driver's error as the cause", async () => {
    const { server } = await connect();
    const client = makeClient({ apiKey: SECRET, baseURL: server.baseURL });
    const failure = await rejection(collect(client.stream(QUESTION)));
    expect(failure).toMatchObject({ code: "unauthorized", retryable: false, cause: { status: 401 } });
    expect(String(failure)).not.toContain(SECRET);
    expect(String(failure)).not.toContain("127.0.0.1");
  });

  it("tells an unknown model from an unknown address", async () => {
    const { client, server } = await connect({}, { models: ["known"] });
    const unknownModel = await rejection(collect(client.stream(QUESTION)));
    expect(unknownModel).toMatchObject({ code: "configuration", message: expect.stringContaining("model:") });
    const lost = makeClient({ apiKey: "test-key", baseURL: `${server.baseURL}/nowhere` });
    await expect(collect(lost.stream(QUESTION))).rejects.toMatchObject({ code: "not_found" });
  });

  it("names the parameter that the service refused", async () => {
    const { client } = await connect();
    const orphan = message("tool", { type: "function_result", callId: "c1", result: "x" });
    const failure = await rejection(collect(client.stream([...QUESTION, orphan])));
    expect(failure).toMatchObject({
      code: "configuration",
      message: expect.stringMatching(/parameter (?:messages\.\[1\]\.role|input)\)/),
    });
  });

  it("is unavailable when nothing listens", async () => {
    const { client, server } = await connect();
    await server.close();
    await expect(collect(client.stream(QUESTION))).rejects.toMatchObject({ code: "unavailable" });
  });
});

describe.each(BOTH_APIS)("$name: retries", ({ connect, answer }) => {
  it("repeat what failed before the answer began", async () => {
    const { client, server } = await connect({ maxRetries: 2 });
    const busy = { status: 503, body: {}, headers: { "retry-after-ms": "1" } };
    server.reply(busy);
    server.reply({ ...busy, status: 429 });
    server.reply(answer("At last."));
    expect(await collect(client.stream(QUESTION))).not.toHaveLength(0);
    expect(server.requests).toHaveLength(3);
  });

  it("do not repeat what cannot work, and are off with 0", async () => {
    const { client, server } = await connect({ maxRetries: 2 });
    server.reply({ status: 400, body: {} });
    await rejection(collect(client.stream(QUESTION)));
    expect(server.requests).toHaveLength(1);
    const once = await connect({ maxRetries: 0 });
    once.server.reply({ status: 503, body: {} });
    await expect(collect(once.client.stream(QUESTION))).rejects.toMatchObject({ code: "unavailable" });
    expect(once.server.requests).toHaveLength(1);
  });

  it("never repeat an answer that has begun", async () => {
    const { client, server } = await connect({ maxRetries: 2 });
    server.reply(answer("Hello.", { cutAfterBytes: 500 }));
    await expect(collect(client.stream(QUESTION))).rejects.toMatchObject({ code: "unavailable" });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    { "retry-after": "86400" },
    { "retry-after": new Date(Date.now() + 86_400_000).toUTCString() },
    { "retry-after-ms": "86400000" },
  ])("do not wait for a day: %j", async (headers) => {
    const { client, server } = await connect({ maxRetries: 2 });
    server.reply({ status: 429, body: { error: { code: "rate_limit_exceeded" } }, headers });
    const failure = await rejection(collect(client.stream(QUESTION)));
    expect(failure).toMatchObject({ code: "unavailable", cause: { status: 429, code: "rate_limit_exceeded" } });
    expect(server.requests).toHaveLength(1);
  });
});
