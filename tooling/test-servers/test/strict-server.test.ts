import { describe, expect, it, onTestFinished } from "vitest";
import { isFields, startStrictServer } from "../src/openai/index.ts";

const USER = { role: "user", content: "Hi" };
const TOOL = { type: "function", function: { name: "add", parameters: { type: "object" } } };

function asked(...ids: string[]): object {
  const calls = ids.map((id) => ({ id, type: "function", function: { name: "add", arguments: "{}" } }));
  return { role: "assistant", content: null, tool_calls: calls };
}

function answered(id: string): object {
  return { role: "tool", tool_call_id: id, content: "3" };
}

async function post(body: unknown, path = "/chat/completions", key = "test-key"): Promise<Response> {
  const server = await startStrictServer({ models: ["m"] });
  onTestFinished(() => server.close());
  return fetch(server.baseURL + path, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** The status and the parameter that the server names. */
async function refusalOf(messages: unknown, more: object = {}): Promise<readonly [number, unknown]> {
  const response = await post({ model: "m", messages, ...more });
  const body: unknown = await response.json();
  return [response.status, isFields(body) && isFields(body["error"]) ? body["error"]["param"] : undefined];
}

describe("the strict server", () => {
  it.each<[string, object[], object?]>([
    ["a question", [USER]],
    ["two calls answered in another order", [USER, asked("a", "b"), answered("b"), answered("a"), USER]],
    ["the same id in two messages", [USER, asked("a"), answered("a"), asked("a"), answered("a")]],
    ["tools", [USER], { tools: [TOOL], tool_choice: "auto", parallel_tool_calls: true }],
  ])("takes %s", async (_, messages, more) => {
    expect(await refusalOf(messages, more)).toEqual([200, undefined]);
  });

  it.each<[string, unknown, string, object?]>([
    ["no messages", [], "messages"],
    ["an unknown role", [{ role: "robot", content: "x" }], "messages.[0].role"],
    ["no content", [{ role: "user" }], "messages.[0].content"],
    ["an empty list of parts", [{ role: "user", content: [] }], "messages.[0].content"],
    ["an unknown part", [{ role: "user", content: [{ type: "video" }] }], "messages.[0].content[0].type"],
    [
      "an image that the system shows",
      [{ role: "system", content: [{ type: "image_url" }] }],
      "messages.[0].content[0].type",
    ],
    ["an unknown member", [{ ...USER, messageId: "m1" }], "messages.[0].messageId"],
    ["an assistant that says nothing", [USER, { role: "assistant", content: null }], "messages.[1].content"],
    ["an empty list of calls", [USER, { role: "assistant", content: null, tool_calls: [] }], "messages.[1].tool_calls"],
    ["one id for two calls", [USER, asked("a", "a"), answered("a")], "messages.[1].tool_calls"],
    ["an id that is too long", [USER, asked("a".repeat(41)), USER], "messages.[1].tool_calls[0].id"],
    ["an orphan result", [USER, answered("a")], "messages.[1].role"],
    ["a result for another call", [USER, asked("a"), answered("b")], "messages.[2].role"],
    ["a result that comes twice", [USER, asked("a"), answered("a"), answered("a")], "messages.[3].role"],
    ["a call without result", [USER, asked("a")], "messages.[1].role"],
    ["something between call and result", [USER, asked("a"), USER, answered("a")], "messages.[2].role"],
    ["one of two results", [USER, asked("a", "b"), answered("a"), USER], "messages.[3].role"],
    ["an unknown parameter", [USER], "contextProviders", { contextProviders: [] }],
    ["no tools in a list of them", [USER], "tools", { tools: [] }],
    [
      "a schema that is no object",
      [USER],
      "tools[0].function.parameters",
      { tools: [{ ...TOOL, function: { name: "a", parameters: {} } }] },
    ],
    ["two tools of one name", [USER], "tools", { tools: [TOOL, TOOL] }],
    ["a choice without tools", [USER], "tool_choice", { tool_choice: "none" }],
    [
      "a choice that is not there",
      [USER],
      "tool_choice",
      { tools: [TOOL], tool_choice: { type: "function", function: { name: "b" } } },
    ],
    ["parallel calls without tools", [USER], "parallel_tool_calls", { parallel_tool_calls: true }],
    ["stream options without a stream", [USER], "stream_options", { stream_options: { include_usage: true } }],
    ["two token limits", [USER], "max_tokens", { max_tokens: 1, max_completion_tokens: 1 }],
    ["JSON that nobody speaks of", [USER], "messages", { response_format: { type: "json_object" } }],
    ["a temperature of 3", [USER], "temperature", { temperature: 3 }],
  ])("refuses %s", async (_, messages, parameter, more) => {
    expect(await refusalOf(messages, more)).toEqual([400, parameter]);
  });

  it("refuses bodies, keys, models and addresses that are wrong", async () => {
    expect((await post("{")).status).toBe(400);
    expect((await post({ messages: [USER] })).status).toBe(400);
    expect((await post({ model: "m", messages: [USER] }, "/chat/completions", "other")).status).toBe(401);
    expect((await post({ model: "n", messages: [USER] })).status).toBe(404);
    expect((await post({ model: "m", messages: [USER] }, "/completions")).status).toBe(404);
  });
});
