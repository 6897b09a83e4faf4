import type { Content, Message } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { type MessageFormat, toWireMessages } from "../src/chat-messages.ts";
import { call, collect, connect, message } from "./helpers.ts";

const PLAIN: MessageFormat = { systemRole: "system", joinTexts: false, reasoningField: undefined };
const PNG = Uint8Array.from([137, 80, 78, 71]);
const PNG_BASE64 = Buffer.from(PNG).toString("base64");

function wire(messages: readonly Message[], format: Partial<MessageFormat> = {}) {
  return toWireMessages(messages, { ...PLAIN, ...format });
}

function userPart(content: Content) {
  return wire([message("user", content)])[0];
}

describe("texts", () => {
  it("sends one text as a string in every role", () => {
    const messages = [message("system", "Be brief."), message("user", "Hi"), message("assistant", "Hello")];
    expect(wire(messages)).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello" },
    ]);
  });

  it("keeps the boundaries of several texts as parts, or joins them where a server takes strings only", () => {
    const messages = [message("user", "one", "two")];
    expect(wire(messages)[0]?.content).toEqual([
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ]);
    expect(wire(messages, { joinTexts: true })[0]?.content).toBe("one\ntwo");
  });

  it("leaves out empty texts beside others and sends a lone empty one", () => {
    expect(wire([message("user", "", "two")])[0]?.content).toBe("two");
    expect(wire([message("user", "")])[0]?.content).toBe("");
    const image: Content = { type: "uri", uri: "https://example.com/cat.png", mediaType: "image/png" };
    expect(wire([message("user", "", image)])[0]?.content).toHaveLength(1);
  });

  it("gives system messages the developer role when asked to", () => {
    expect(wire([message("system", "Be brief.")], { systemRole: "developer" })[0]?.role).toBe("developer");
  });

  it("sends neither author names, annotations nor additional properties", () => {
    const contents: Content[] = [
      { type: "text", text: "Hi", annotations: [{ a: 1 }], additionalProperties: { secret: "s" } },
    ];
    const noted: Message = { ...message("user"), contents, authorName: "Ann", additionalProperties: { secret: "s" } };
    expect(wire([noted])).toEqual([{ role: "user", content: "Hi" }]);
  });
});

describe("tools", () => {
  it("sends calls with their arguments as the model wrote them, and content null without text", () => {
    const written = '{ "city":\t"Zürich", "exact": 12345678901234567890 }';
    expect(wire([message("assistant", call("c1", "weather", written))])).toEqual([
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "weather", arguments: written } }],
      },
    ]);
  });

  it("sends text beside calls", () => {
    expect(wire([message("assistant", "One moment.", call("c1", "weather", "{}"))])[0]).toMatchObject({
      content: "One moment.",
      tool_calls: [{ id: "c1" }],
    });
  });

  it("sends each result as a tool message of its own, strings as they are and the rest as JSON", () => {
    const results: Content[] = [
      { type: "function_result", callId: "a", result: "sunny" },
      { type: "function_result", callId: "b", result: { degrees: 21, tags: ["x"] } },
      { type: "function_result", callId: "c", result: null },
      { type: "function_result", callId: "d", result: "" },
    ];
    expect(wire([message("tool", ...results)])).toEqual([
      { role: "tool", tool_call_id: "a", content: "sunny" },
      { role: "tool", tool_call_id: "b", content: '{"degrees":21,"tags":["x"]}' },
      { role: "tool", tool_call_id: "c", content: "null" },
      { role: "tool", tool_call_id: "d", content: "" },
    ]);
  });

  it("does not let a failed call without a result look like one that gave null", () => {
    const failed: Content = { type: "function_result", callId: "a", result: null, exception: "no such city" };
    expect(wire([message("tool", failed)])[0]?.content).toBe("Error: no such city");
  });
});

describe("images, sound and files", () => {
  it.each<[string, Content, object]>([
    [
      "an image at an address",
      { type: "uri", uri: "https://example.com/cat.png", mediaType: "image/png" },
      { type: "image_url", image_url: { url: "https://example.com/cat.png" } },
    ],
    [
      "an image as bytes",
      { type: "data", data: PNG, mediaType: "image/png" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG_BASE64}` } },
    ],
    [
      "an image as a data address, its type taken from there",
      { type: "uri", uri: `data:image/png;base64,${PNG_BASE64}` },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG_BASE64}` } },
    ],
    [
      "sound",
      { type: "data", data: PNG, mediaType: "audio/MPEG; rate=1" },
      { type: "input_audio", input_audio: { data: PNG_BASE64, format: "mp3" } },
    ],
    [
      "a document",
      { type: "data", data: PNG, mediaType: "application/pdf", name: "plan.pdf" },
      { type: "file", file: { file_data: `data:application/pdf;base64,${PNG_BASE64}`, filename: "plan.pdf" } },
    ],
    [
      "a document without a name",
      { type: "data", data: PNG, mediaType: "text/plain" },
      { type: "file", file: { file_data: `data:text/plain;base64,${PNG_BASE64}`, filename: "file.txt" } },
    ],
    ["a file of the service", { type: "hosted_file", fileId: "file-1" }, { type: "file", file: { file_id: "file-1" } }],
  ])("sends %s", (_, content, part) => {
    expect(userPart(content)).toEqual({ role: "user", content: [part] });
  });

  it("reads bytes from the view that it is given, not from the buffer behind it", () => {
    const view = Uint8Array.from([0, 0, ...PNG, 0]).subarray(2, 6);
    expect(userPart({ type: "data", data: view, mediaType: "image/png" })).toEqual({
      role: "user",
      content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${PNG_BASE64}` } }],
    });
  });

  it("is accepted by the service in one message", async () => {
    const { client } = await connect();
    const question = message(
      "user",
      "What is this?",
      { type: "uri", uri: "https://example.com/cat.png", mediaType: "image/png" },
      { type: "data", data: PNG, mediaType: "image/webp" },
      { type: "data", data: PNG, mediaType: "audio/wav" },
      { type: "data", data: PNG, mediaType: "application/pdf" },
      { type: "hosted_file", fileId: "file-1" },
    );
    expect(await collect(client.stream([question], {}))).not.toHaveLength(0);
  });
});

describe("what is never for the model", () => {
  const left: Content[] = [
    { type: "text_reasoning", text: "thinking" },
    { type: "usage", details: { inputTokenCount: 1 } },
    { type: "error", message: "went wrong" },
    { type: "function_approval_request", id: "r", functionCall: call("c", "weather", "{}") },
    { type: "function_approval_response", id: "r", approved: true },
    { type: "oauth_consent_request", consentLink: "https://example.com" },
    { type: "unknown", raw: { type: "from_later" } },
  ];

  it.each(left.map((content) => [content.type, content] as const))("leaves out %s", (_, content) => {
    expect(wire([message("assistant", content, "Hello")])).toEqual([{ role: "assistant", content: "Hello" }]);
    expect(wire([message("user", "Hi"), message("assistant", content)])).toHaveLength(1);
  });

  it("sends reasoning back under the name that a server asks for", () => {
    const thought = message(
      "assistant",
      { type: "text_reasoning", text: "thin" },
      { type: "text_reasoning", text: "k" },
    );
    const answer: Message = { ...thought, contents: [...thought.contents, call("c", "weather", "{}")] };
    expect(wire([answer], { reasoningField: "reasoning_content" })[0]).toMatchObject({ reasoning_content: "think" });
    expect(wire([answer], { reasoningField: "reasoning" })[0]).toMatchObject({ reasoning: "think" });
    expect(wire([message("assistant", "Hi")], { reasoningField: "reasoning" })[0]).not.toHaveProperty("reasoning");
  });
});

describe("what cannot be sent", () => {
  it.each<[Message, RegExp]>([
    [message("system", { type: "data", data: PNG, mediaType: "image/png" }), /system.*a data content/],
    [message("user", call("c", "weather", "{}")), /a function_call content in a user message/],
    [message("user", { type: "data", data: PNG, mediaType: "video/mp4" }), /a data content of type video\/mp4/],
    [message("user", { type: "data", data: PNG, mediaType: "audio/ogg" }), /a data content of type audio\/ogg/],
    [message("user", { type: "uri", uri: "https://example.com/a" }), /a uri content without a mediaType/],
    [message("user", { type: "uri", uri: "https://example.com/a", mediaType: "audio/wav" }), /of type audio\/wav/],
    [message("user", { type: "uri", uri: "file:///etc/passwd", mediaType: "image/png" }), /at this address/],
    [message("user", { type: "hosted_vector_store", vectorStoreId: "v" }), /a hosted_vector_store content/],
    [message("assistant", { type: "function_result", callId: "c", result: 1 }), /a function_result content/],
    [message("assistant", { type: "mcp_server_tool_call", callId: "c" }), /a mcp_server_tool_call content/],
    [
      message("assistant", { type: "data", data: PNG, mediaType: "image/png" }),
      /a data content in an assistant message/,
    ],
    [message("tool", "text"), /a text content in a tool message/],
  ])("is refused by name: %#", (refused, text) => {
    const convert = () => wire([message("user", "first"), refused]);
    expect(convert).toThrow(expect.objectContaining({ code: "unsupported", message: expect.stringMatching(text) }));
    expect(convert).toThrow(`messages[1] (${refused.role}, id "${refused.messageId}")`);
  });

  it("is refused before anything is sent", async () => {
    const { client, server } = await connect();
    const refused = message("user", { type: "data", data: PNG, mediaType: "video/mp4" });
    await expect(collect(client.stream([refused], {}))).rejects.toMatchObject({ code: "unsupported" });
    expect(server.requests).toHaveLength(0);
  });

  it("does not quote a media type that could hold anything", () => {
    expect(() => userPart({ type: "data", data: PNG, mediaType: "sk-secret value" })).toThrow(/of type unknown/);
  });
});
