import { describe, expect, it, onTestFinished } from "vitest";
import { asks, isFields, type ResponsesReply, says, startStrictResponsesServer } from "../src/openai/index.ts";

const USER = { role: "user", content: "Hi" };
const TOOL = { type: "function", name: "add", parameters: { type: "object" }, strict: false };
const CALL = { type: "function_call", call_id: "a", name: "add", arguments: "{}" };
const OUTPUT = { type: "function_call_output", call_id: "a", output: "3" };
const ENCRYPTED = { store: false, include: ["reasoning.encrypted_content"] };

type Body = Readonly<Record<string, unknown>>;

async function open(...replies: ResponsesReply[]) {
  const server = await startStrictResponsesServer({ models: ["m", "plain"], plainModels: ["plain"] });
  onTestFinished(() => server.close());
  server.reply(...replies);
  const send = async (body: unknown, path = "/responses", key = "test-key") => {
    const response = await fetch(server.baseURL + path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const answer: unknown = await response.json();
    return { status: response.status, body: isFields(answer) ? answer : {} };
  };
  const ask = (input: unknown, more: Body = {}) => send({ model: "m", input, ...more });
  return { server, send, ask };
}

/** The status, the parameter that the server names, and the code. */
function refusal({ status, body }: { status: number; body: Body }): readonly unknown[] {
  const error = isFields(body["error"]) ? body["error"] : {};
  return [status, error["param"], ...(error["code"] === null ? [] : [error["code"]])];
}

function outputOf({ body }: { body: Body }): readonly Body[] {
  return Array.isArray(body["output"]) ? body["output"] : [];
}

describe("the strict server of the Responses API", () => {
  it.each<[string, unknown, Body?]>([
    ["a text", "Hi"],
    ["a question", [USER]],
    [
      "parts",
      [
        {
          role: "user",
          content: [
            { type: "input_text", text: "Hi" },
            { type: "input_image", file_id: "f" },
          ],
        },
      ],
    ],
    ["what an assistant said", [USER, { role: "assistant", content: "Yes" }, USER]],
    ["a call and its result", [USER, CALL, OUTPUT, USER]],
    ["two results in another order", [CALL, { ...CALL, call_id: "b" }, { ...OUTPUT, call_id: "b" }, OUTPUT]],
    ["tools", [USER], { tools: [TOOL, { type: "web_search" }], tool_choice: "auto", parallel_tool_calls: true }],
  ])("takes %s", async (_, input, more) => {
    const { ask } = await open();
    expect((await ask(input, more)).status).toBe(200);
  });

  it.each<[string, unknown, readonly unknown[], Body?]>([
    ["no items", [], [400, "input", "empty_array"]],
    ["an item of an unknown kind", [{ type: "robot" }], [400, "input[0].type", "invalid_value"]],
    ["an unknown role", [{ role: "tool", content: "x" }], [400, "input[0].role", "invalid_value"]],
    ["empty text", [{ role: "user", content: "" }], [400, "input[0].content", "empty_array"]],
    ["no parts", [{ role: "user", content: [] }], [400, "input[0].content", "empty_array"]],
    [
      "an empty part",
      [{ role: "user", content: [{ type: "input_text", text: "" }] }],
      [400, "input[0].content[0].text", "invalid_value"],
    ],
    [
      "a part of another role",
      [{ role: "assistant", content: [{ type: "input_text", text: "x" }] }],
      [400, "input[0].content[0].type", "invalid_value"],
    ],
    ["an unknown member", [{ ...USER, messageId: "m1" }], [400, "input[0].messageId", "unknown_parameter"]],
    ["an unknown item id", [{ ...USER, id: "msg_1" }], [404, "input"]],
    ["an orphan result", [USER, OUTPUT], [400, "input"]],
    ["a result that comes twice", [CALL, OUTPUT, OUTPUT], [400, "input"]],
    ["a result before its call", [OUTPUT, CALL], [400, "input"]],
    ["a call without result", [USER, CALL], [400, "input"]],
    ["something between call and result", [CALL, USER, OUTPUT], [400, "input"]],
    ["one id for two calls", [CALL, OUTPUT, CALL, OUTPUT], [400, "input"]],
    ["reasoning that is not encrypted", [{ type: "reasoning", summary: [] }, CALL, OUTPUT], [400, "input"]],
    [
      "reasoning of another server",
      [{ type: "reasoning", summary: [], encrypted_content: "x" }, CALL, OUTPUT],
      [400, "input", "invalid_encrypted_content"],
    ],
    ["an unknown parameter", [USER], [400, "messages", "unknown_parameter"], { messages: [] }],
    [
      "a tool as Chat Completions has it",
      [USER],
      [400, "tools[0].function", "unknown_parameter"],
      {
        tools: [{ type: "function", function: {} }],
      },
    ],
    [
      "a tool that is not said to be strict or not",
      [USER],
      [400, "tools[0].strict", "invalid_type"],
      {
        tools: [{ ...TOOL, strict: undefined }],
      },
    ],
    ["a choice without tools", [USER], [400, "tool_choice", "invalid_value"], { tool_choice: "none" }],
    [
      "an unknown response",
      [USER],
      [400, "previous_response_id", "previous_response_not_found"],
      {
        previous_response_id: "resp_0",
      },
    ],
    ["an unknown conversation", [USER], [404, null], { conversation: "conv_0" }],
    [
      "both at once",
      [USER],
      [400, "conversation", "mutually_exclusive_parameters"],
      {
        conversation: "conv_0",
        previous_response_id: "resp_0",
      },
    ],
    ["encryption where a model has none", [USER], [400, "include"], { model: "plain", ...ENCRYPTED }],
  ])("refuses %s", async (_, input, expected, more) => {
    const { ask } = await open();
    expect(refusal(await ask(input, more))).toEqual(expected);
  });

  it("refuses bodies, keys, models and addresses that are wrong", async () => {
    const { send } = await open();
    expect((await send("{")).status).toBe(400);
    expect((await send({ input: "Hi" })).status).toBe(400);
    expect((await send({ model: "m", input: "Hi" }, "/responses", "other")).status).toBe(401);
    expect((await send({ model: "n", input: "Hi" })).status).toBe(404);
    expect((await send({ model: "m", input: "Hi" }, "/chat/completions")).status).toBe(404);
  });

  it("refuses reasoning without its partner, and the partner without its reasoning", async () => {
    const { ask } = await open(asks({ a: ["add", "{}"] }, "hm"));
    const [reasoning, call] = outputOf(await ask([USER], ENCRYPTED));
    const items = [reasoning, call].map((item) => ({ ...item, id: undefined, status: undefined }));
    const [thought, asked] = items;
    expect(refusal(await ask([USER, asked, OUTPUT], ENCRYPTED))).toEqual([400, "input"]);
    expect(refusal(await ask([USER, thought, USER], ENCRYPTED))).toEqual([400, "input"]);
    expect(refusal(await ask([USER, thought], ENCRYPTED))).toEqual([400, "input"]);
    expect(refusal(await ask([USER, thought, USER, asked, OUTPUT], ENCRYPTED))).toEqual([400, "input"]);
    expect((await ask([USER, thought, asked, OUTPUT], ENCRYPTED)).status).toBe(200);
    expect(refusal(await ask([USER, reasoning, asked, OUTPUT], ENCRYPTED))).toEqual([404, "input"]);
  });

  it("continues a response, with the results that it waits for, from every one of its points", async () => {
    const { ask, server } = await open(asks({ a: ["add", "{}"] }));
    const first = String((await ask([USER])).body["id"]);
    expect(refusal(await ask([USER], { previous_response_id: first }))).toEqual([400, "input"]);
    expect(refusal(await ask([USER, OUTPUT], { previous_response_id: first }))).toEqual([400, "input"]);
    for (const _ of [1, 2]) {
      expect((await ask([OUTPUT, USER], { previous_response_id: first })).status).toBe(200);
    }
    expect(server.kept(first).map(({ type }) => type)).toEqual(["message", "function_call"]);
  });

  it("keeps no response that it is not to keep", async () => {
    const { ask } = await open();
    const { id } = (await ask([USER], { store: false })).body;
    expect(refusal(await ask([USER], { previous_response_id: id }))[2]).toBe("previous_response_not_found");
  });

  it("adds to a conversation, and takes nothing that it holds again", async () => {
    const { ask, server } = await open(says("Hello."), says("Again."));
    const conversation = server.createConversation();
    await ask([USER], { conversation });
    const said = { role: "assistant", content: "Hello." };
    expect(refusal(await ask([USER, said, USER], { conversation }))).toEqual([400, "input"]);
    expect(refusal(await ask([said], { conversation }))).toEqual([400, "input"]);
    const kept = server.kept(conversation).find(({ role }) => role === "assistant");
    expect(refusal(await ask([kept], { conversation }))).toEqual([400, "input"]);
    expect((await ask([USER], { conversation })).status).toBe(200);
    expect(server.kept(conversation)).toHaveLength(4);
  });

  it("lists the items of a conversation, the newest first", async () => {
    const { ask, server } = await open();
    const conversation = server.createConversation();
    await ask([USER], { conversation });
    const url = `${server.baseURL}/conversations/${conversation}/items?order=desc&limit=1`;
    const headers = { authorization: "Bearer test-key" };
    const page: unknown = await (await fetch(url, { headers })).json();
    expect(page).toMatchObject({ data: [{ role: "assistant" }], has_more: true });
    expect((await fetch(url.replace(conversation, "conv_0"), { headers })).status).toBe(404);
    expect((await fetch(url)).status).toBe(401);
  });

  it("gives a response that it keeps, and no other", async () => {
    const { ask, server } = await open();
    const headers = { authorization: "Bearer test-key" };
    const get = async (id: unknown) => fetch(`${server.baseURL}/responses/${id}`, { headers });
    const { id } = (await ask([USER])).body;
    const found: unknown = await (await get(id)).json();
    expect(found).toMatchObject({ id, status: "completed", output: [{ role: "assistant" }] });
    expect((await get((await ask([USER], { store: false })).body["id"])).status).toBe(404);
    expect((await fetch(`${server.baseURL}/responses/${id}`)).status).toBe(401);
  });

  it("answers one request at a time on a conversation", async () => {
    const { ask, server } = await open("silence");
    const conversation = server.createConversation();
    const waiting = ask([USER], { conversation }).catch(() => undefined);
    await expect.poll(() => server.requests.length).toBe(1);
    expect(refusal(await ask([USER], { conversation }))).toEqual([409, null, "conversation_locked"]);
    await server.close();
    await waiting;
  });
});
