import type { ChatUpdate, Content, Message } from "@agentfw/core";
import { asks, says } from "@agentfw/test-servers/openai";
import { describe, expect, it, vi } from "vitest";
import { OpenAIResponsesClient } from "../src/index.ts";
import { call, collect, message, rejection } from "./helpers.ts";
import { clientOf, connectResponses, shapeOf } from "./responses-helpers.ts";

const INTERRUPTED = "The call was interrupted. Whether it took effect is unknown.";
const TOOLS = [{ name: "add", parameters: { type: "object" } }];
const USER = message("user", "Hi");

function result(callId: string, text: string): Message {
  return message("tool", { type: "function_result", callId, result: text });
}

function continuation(updates: readonly ChatUpdate[]): string | undefined {
  return updates.at(-1)?.conversationId;
}

function contentsOf(updates: readonly ChatUpdate[]): Content[] {
  return updates.flatMap(({ contents = [] }) => contents);
}

function repairsOf(updates: readonly ChatUpdate[]): unknown {
  return updates[0]?.additionalProperties?.["requestRepairs"];
}

describe.each([true, false])("a kept conversation, streaming: %s", (streaming) => {
  it("goes on behind a response, whose id is another one each time", async () => {
    const { client, server } = await connectResponses({ streaming });
    const first = continuation(await collect(client.stream([USER])));
    const second = continuation(await collect(client.stream([USER], { conversationId: first })));
    expect(server.requests.map(({ body }) => body["previous_response_id"])).toEqual([undefined, first]);
    expect(second).not.toBe(first);
    expect(server.kept(String(second))).toHaveLength(4);
  });

  it("goes on in a conversation, whose id stays", async () => {
    const { client, server } = await connectResponses({ streaming });
    const conversationId = server.createConversation();
    for (const _ of [1, 2]) {
      expect(continuation(await collect(client.stream([USER], { conversationId })))).toBe(conversationId);
    }
    expect(server.requests[1]?.body).toMatchObject({ conversation: conversationId });
    expect(server.requests[1]?.body).not.toHaveProperty("previous_response_id");
    expect(server.kept(conversationId)).toHaveLength(4);
  });

  it("takes the results of its calls alone", async () => {
    const { client, server } = await connectResponses({ streaming });
    server.reply(asks({ a: ["add", "{}"], b: ["add", "{}"] }, "hm"), says("Done."));
    const first = continuation(await collect(client.stream([USER], { tools: TOOLS })));
    await collect(client.stream([result("a", "1"), result("b", "2")], { tools: TOOLS, conversationId: first }));
    expect(shapeOf(server.requests[1]?.body)).toEqual(["result a: 1", "result b: 2"]);
  });

  it("that nobody keeps cannot be continued", async () => {
    const { client } = await connectResponses({ streaming });
    const updates = await collect(client.stream([USER], { store: false }));
    expect(continuation(updates)).toBeUndefined();
    const conversationId = updates[0]?.responseId;
    await expect(collect(client.stream([USER], { conversationId }))).rejects.toMatchObject({ code: "not_found" });
    await expect(collect(client.stream([USER], { conversationId: "conv_0" }))).rejects.toMatchObject({
      code: "not_found",
    });
  });
});

describe("a conversation that the service does not keep", () => {
  it("goes back with its reasoning, in the order in which it was made", async () => {
    const { client, server } = await connectResponses({ store: false });
    server.reply(
      { items: [{ reasoning: "Look." }, { text: "A moment." }, ...asks({ a: ["add", "{}"] }, "Add.").items] },
      { items: [{ reasoning: "" }, { text: "Done." }] },
      says("Bye."),
    );
    const messages = [USER];
    for (const next of [result("a", "1"), message("user", "Thanks")]) {
      const answer = contentsOf(await collect(client.stream(messages, { tools: TOOLS })));
      messages.push(message("assistant", ...joined(answer)), next);
    }
    await collect(client.stream(messages, { tools: TOOLS }));
    expect(shapeOf(server.requests[2]?.body)).toEqual([
      "user: Hi",
      "reasoning",
      "assistant: A moment.",
      "reasoning",
      "call a",
      "result a: 1",
      "reasoning",
      "assistant: Done.",
      "user: Thanks",
    ]);
    expect(server.requests[2]?.body["input"]).toContainEqual(
      expect.objectContaining({ type: "reasoning", summary: [] }),
    );
  });

  it("asks a model without encrypted reasoning for it once only", async () => {
    const { client, server } = await connectResponses({ store: false }, { plainModels: ["test-model"] });
    for (const _ of [1, 2]) {
      expect(repairsOf(await collect(client.stream([USER])))).toBeUndefined();
    }
    const asked = server.requests.map(({ body }) => body["include"]);
    expect(asked).toEqual([["reasoning.encrypted_content"], undefined, undefined]);
  });

  it.each([
    { param: "include", message: "No." },
    { param: null, message: "Encrypted content is not supported with this model." },
  ])("is told that a model has none in more than one way: %j", async (error) => {
    const { client, server } = await connectResponses({ store: false });
    server.reply({ status: 400, body: { error: { ...error, type: "invalid_request_error", code: null } } });
    await collect(client.stream([USER]));
    expect(server.requests[1]?.body).not.toHaveProperty("include");
  });

  it("keeps what else was to be included, and asks for the key once a call", async () => {
    const { server } = await connectResponses({}, { plainModels: ["m"] });
    const apiKey = vi.fn(() => "test-key");
    const { baseURL } = server;
    const client = new OpenAIResponsesClient({ model: "m", apiKey, baseURL, store: false });
    const include = ["web_search_call.action.sources"];
    await collect(client.stream([USER], { additionalProperties: { include } }));
    expect(server.requests[1]?.body["include"]).toEqual(include);
    expect(apiKey).toHaveBeenCalledTimes(1);
  });

  it("outlives the key that its reasoning was encrypted with", async () => {
    const first = await connectResponses({ store: false });
    first.server.reply({ items: [{ reasoning: "hm" }, { text: "Hello." }] });
    const answer = joined(contentsOf(await collect(first.client.stream([USER]))));
    const { client, server } = await connectResponses({ store: false });
    const updates = await collect(client.stream([USER, message("assistant", ...answer), message("user", "Again")]));
    expect(repairsOf(updates)).toEqual(["reasoning_dropped"]);
    expect(shapeOf(server.requests[1]?.body)).toEqual(["user: Hi", "assistant: Hello.", "user: Again"]);
  });
});

describe.each([
  [true, "conv"],
  [false, "conv"],
  [true, "resp"],
])("a conversation that a process left in the middle, streaming: %s, %s", (streaming, kind) => {
  async function left(...calls: string[]) {
    const { client, server } = await connectResponses({ streaming });
    const conversation = kind === "conv" ? server.createConversation() : undefined;
    server.reply(asks(Object.fromEntries(calls.map((id) => [id, ["add", "{}"] as const]))));
    const updates = await collect(client.stream([USER], { tools: TOOLS, conversationId: conversation }));
    const options = { tools: TOOLS, conversationId: continuation(updates) };
    return { client: clientOf(server, { streaming }), server, options };
  }

  it("has its open calls closed, and says so", async () => {
    const { client, server, options } = await left("a", "b");
    const updates = await collect(client.stream([result("b", "2"), USER], options));
    expect(repairsOf(updates)).toEqual(["open_call_closed"]);
    expect(shapeOf(server.requests.at(-1)?.body)).toEqual([`result a: ${INTERRUPTED}`, "result b: 2", "user: Hi"]);
    const conversationId = continuation(updates);
    expect(repairsOf(await collect(client.stream([USER], { ...options, conversationId })))).toBeUndefined();
    expect(server.lookups).toHaveLength(1);
  });

  it("has results left out that it holds already, and says so", async () => {
    const { client, server, options } = await left("a");
    const conversationId = continuation(await collect(client.stream([result("a", "1")], options)));
    const updates = await collect(client.stream([result("a", "1"), USER], { ...options, conversationId }));
    expect(repairsOf(updates)).toEqual(["orphan_result_dropped"]);
    expect(shapeOf(server.requests.at(-1)?.body)).toEqual(["user: Hi"]);
  });

  it("is asked for its items only when it refuses, and refuses for good what is wrong with the input itself", async () => {
    const { client, server, options } = await left("a");
    const conversationId = continuation(await collect(client.stream([result("a", "1")], options)));
    expect(server.lookups).toEqual([]);
    const orphan = message("assistant", call("z", "add", "{}"));
    const failure = await rejection(collect(client.stream([orphan], { ...options, conversationId })));
    expect(failure).toMatchObject({ code: "configuration" });
    expect(server.lookups).toHaveLength(1);
  });
});

/** The pieces of an answer as the runtime folds them: texts and reasoning joined, arguments put to their calls. */
function joined(pieces: readonly Content[]): Content[] {
  const contents: Content[] = [];
  for (const piece of pieces) {
    const last = contents.at(-1);
    if (piece.type === "text" && last?.type === "text") {
      contents[contents.length - 1] = { ...last, text: last.text + piece.text };
    } else if (piece.type === "text_reasoning" && last?.type === "text_reasoning" && last.protectedData === undefined) {
      const text = last.text === undefined ? {} : { text: last.text + (piece.text ?? "") };
      contents[contents.length - 1] = { ...last, ...piece, ...text };
    } else if (piece.type === "function_call" && piece.name === "" && last?.type === "function_call") {
      contents[contents.length - 1] = { ...last, arguments: last.arguments + piece.arguments };
    } else if (piece.type !== "usage") {
      contents.push(piece);
    }
  }
  return contents;
}
