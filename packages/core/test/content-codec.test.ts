import { describe, expect, test } from "vitest";
import { contentFromInput, contentFromJson } from "../src/content-codec.ts";
import { type Content, type Json, messageToJson } from "../src/index.ts";
import { Random } from "./support/random.ts";

/** The stored form of a content. */
function stored(content: Content): Json {
  const message = messageToJson({ role: "user", messageId: "m", contents: [content] });
  return (message as { contents: Json[] }).contents[0]!;
}

/** Through JSON text and back, as storing and loading do it. */
function roundTrip(content: Content): Content {
  return contentFromJson(JSON.parse(JSON.stringify(stored(content))));
}

const functionCall = { type: "function_call", callId: "c1", name: "look", arguments: "{}" } as const;
const extras = {
  annotations: [{ type: "citation", url: "https://example.com", start: 3 }, null, "mark"],
  additionalProperties: { fileName: "a.txt", nested: { list: [1, null] } },
} as const;

/** Every type, once with all members and once with only those that it needs. */
const CONTENTS: readonly Content[] = [
  { type: "text", text: "Hello" },
  { type: "text", text: "" },
  { type: "text_reasoning" },
  { type: "text_reasoning", text: "hmm", protectedData: "b3BhcXVl+/==" },
  { type: "text_reasoning", protectedData: "only opaque" },
  { type: "data", data: Uint8Array.of(0, 255, 254, 128), mediaType: "image/png", name: "a.png" },
  { type: "data", data: new Uint8Array(0), mediaType: "text/plain" },
  { type: "uri", uri: "https://example.com/a.png", mediaType: "image/png" },
  { type: "uri", uri: "data:image/png;base64,AAAA" },
  { type: "error" },
  { type: "error", message: "no", errorCode: "E1", details: "because" },
  functionCall,
  { type: "function_call", callId: "", name: "", arguments: '{"n": 1.0, "id": 12345678901234567890}' },
  { type: "function_result", callId: "c1", result: null },
  { type: "function_result", callId: "c1", result: "", exception: "failed" },
  { type: "function_result", callId: "c1", result: { list: [1, { a: false }], text: "x" } },
  { type: "function_result", callId: "c1", result: [] },
  { type: "function_approval_request", id: "a1", functionCall: { ...functionCall, ...extras } },
  { type: "function_approval_response", id: "a1", approved: false },
  { type: "function_approval_response", id: "a1", approved: true, functionCall, reason: "sure" },
  { type: "usage", details: {} },
  { type: "usage", details: { inputTokenCount: 1, outputTokenCount: 0, totalTokenCount: 1, cachedInputTokenCount: 0 } },
  { type: "hosted_file", fileId: "f1" },
  { type: "hosted_file", fileId: "f1", mediaType: "text/csv", name: "a.csv" },
  { type: "hosted_vector_store", vectorStoreId: "v1" },
  { type: "code_interpreter_tool_call", callId: "h1", arguments: { code: "1+1" } },
  { type: "code_interpreter_tool_result", callId: "h1", outputs: [{ text: "2" }] },
  { type: "image_generation_tool_call" },
  { type: "image_generation_tool_result", outputs: ["AAAA"] },
  { type: "mcp_server_tool_call", callId: "h2", name: "search", serverName: "docs", arguments: "{}" },
  { type: "mcp_server_tool_result", callId: "h2", outputs: null },
  { type: "search_tool_call", callId: "h3" },
  { type: "search_tool_result", callId: "h3", outputs: [] },
  { type: "shell_tool_call", callId: "h4", arguments: ["ls"] },
  { type: "shell_tool_result", callId: "h4" },
  { type: "shell_command_output", outputs: "a\nb" },
  { type: "oauth_consent_request", consentLink: "https://example.com/consent" },
  { type: "unknown", raw: { type: "hologram", depth: 3, extra: [1, "two", null] } },
];

describe("every content comes back as it was stored", () => {
  test.each(CONTENTS.map((content) => [`${content.type} ${Object.keys(content).join(" ")}`, content] as const))(
    "%s",
    (_, content) => {
      const back = roundTrip(content);
      expect(back).toEqual(content);
      // Absent stays absent: no member is there that was not there before.
      expect(Object.keys(back).sort()).toEqual(Object.keys(content).sort());
    },
  );

  test("with annotations, additional properties and members of a later version", () => {
    for (const content of CONTENTS.filter(({ type }) => type !== "unknown")) {
      const full = { ...content, ...extras, fromTheFuture: { kept: [true, null] } };
      expect(roundTrip(full)).toEqual(full);
    }
  });

  test("the test knows every content type", () => {
    // Fails to compile when a type is missing here.
    const known: Record<Content["type"], true> = {
      code_interpreter_tool_call: true,
      code_interpreter_tool_result: true,
      data: true,
      error: true,
      function_approval_request: true,
      function_approval_response: true,
      function_call: true,
      function_result: true,
      hosted_file: true,
      hosted_vector_store: true,
      image_generation_tool_call: true,
      image_generation_tool_result: true,
      mcp_server_tool_call: true,
      mcp_server_tool_result: true,
      oauth_consent_request: true,
      search_tool_call: true,
      search_tool_result: true,
      shell_command_output: true,
      shell_tool_call: true,
      shell_tool_result: true,
      text: true,
      text_reasoning: true,
      unknown: true,
      uri: true,
      usage: true,
    };
    expect([...new Set(CONTENTS.map(({ type }) => type))].sort()).toEqual(Object.keys(known).sort());
  });

  test("the model's argument text keeps its every character", () => {
    const text = '{"n": 1.0, "id": 12345678901234567890,\n\t"e": "\\ud83d", "s":"\u0000"}';
    expect(roundTrip({ ...functionCall, arguments: text })).toEqual({ ...functionCall, arguments: text });
  });
});

describe("bytes", () => {
  test("of a view on a larger buffer are the view's alone", () => {
    const buffer = Uint8Array.of(9, 9, 9, 1, 2, 9, 9, 9).buffer;
    const view = new Uint8Array(buffer, 3, 2);
    const content: Content = { type: "data", data: view, mediaType: "x/y" };
    expect(stored(content)).toEqual({ type: "data", data: "AQI=", mediaType: "x/y" });
    const back = roundTrip(content);
    expect(back).toEqual({ type: "data", data: Uint8Array.of(1, 2), mediaType: "x/y" });
  });

  test("of every length and value come back equal", () => {
    const random = new Random(7);
    for (const length of [0, 1, 2, 3, 4, 255, 0x8000 - 1, 0x8000, 0x8000 + 1, 300_001]) {
      const data = Uint8Array.from({ length }, () => random.below(256));
      const back = roundTrip({ type: "data", data, mediaType: "x/y" });
      expect(back.type === "data" && Buffer.from(back.data).equals(Buffer.from(data))).toBe(true);
    }
  });

  test("that a caller passes are copied, so that a later change does not reach what is stored", () => {
    const data = Buffer.from([1, 2, 3]);
    const content = contentFromInput({ type: "data", data, mediaType: "x/y" }, "content");
    data[0] = 9;
    expect(content).toEqual({ type: "data", data: Uint8Array.of(1, 2, 3), mediaType: "x/y" });
  });

  test.each([
    ["with a blank in it", "AQ I="],
    ["without its padding", "AQI"],
    ["with stray bits at its end", "AQJ="],
    ["of the URL alphabet", "-_-_"],
    ["that is none", "%%%"],
    ["that is a number", 5],
  ])("base64 %s is not ours to read: the content is kept as it is", (_, data) => {
    const raw: Json = { type: "data", data, mediaType: "x/y" };
    expect(contentFromJson(raw)).toEqual({ type: "unknown", raw });
  });
});

describe("what this version does not understand is kept, byte for byte", () => {
  test.each<[string, string]>([
    ["an unknown type", '{"type":"hologram","z":1,"a":{"__proto__":{"x":1},"constructor":2}}'],
    ["a type that is the name of a built-in", '{"type":"constructor","text":"x"}'],
    ["the type __proto__", '{"type":"__proto__"}'],
    ["a message in place of a content", '{"type":"message","messageId":"m","role":"user"}'],
    ["no type", '{"text":"x"}'],
    ["a type that is no string", '{"type":5}'],
    ["text without its text", '{"type":"text"}'],
    ["text of a number", '{"type":"text","text":5,"more":true}'],
    ["a call without its name", '{"type":"function_call","callId":"c","arguments":"{}"}'],
    ["a call with an object for its arguments", '{"type":"function_call","callId":"c","name":"n","arguments":{}}'],
    ["a result without its result", '{"type":"function_result","callId":"c"}'],
    ["an optional member that is null", '{"type":"uri","uri":"u","mediaType":null}'],
    ["a request whose call is broken", '{"type":"function_approval_request","id":"a","functionCall":{}}'],
    ["an answer that is no boolean", '{"type":"function_approval_response","id":"a","approved":"true"}'],
    ["usage that is a list", '{"type":"usage","details":[]}'],
    ["null", "null"],
    ["a number", "42"],
    ["a text", '"text"'],
    ["a list", "[]"],
    ["an object with nothing in it", "{}"],
    ["what says of itself that it is unknown", '{"type":"unknown","raw":{"type":"text","text":"x"}}'],
  ])("%s", (_, text) => {
    const content = contentFromJson(JSON.parse(text));
    expect(content.type).toBe("unknown");
    expect(JSON.stringify(stored(content))).toBe(text);
  });
});

describe("a content that a caller passes is refused with its path", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;

  test.each<[string, unknown, string]>([
    ["an unknown type", { type: "hologram" }, "input.type: is not a content type"],
    ["no type", {}, "input.type: is not a content type"],
    ["a type that is the name of a built-in", { type: "toString" }, "input.type: is not a content type"],
    ["text of a number", { type: "text", text: 5 }, "input.text: must be a string"],
    ["bytes that are base64", { type: "data", data: "AA==", mediaType: "x/y" }, "input.data: must be a Uint8Array"],
    ["bytes without a media type", { type: "data", data: Uint8Array.of(1) }, "input.mediaType: must be a string"],
    ["a number", 5, "input: must be a content object or a string"],
    ["null", null, "input: must be a content object or a string"],
    ["a list", [], "input: must be a content object or a string"],
    ["an instance of a class", new (class Text {})(), "input: must be a content object or a string"],
    [
      "arguments that hold themselves",
      { type: "function_call", callId: "c", name: "n", arguments: cyclic },
      "input.arguments.self: a cycle",
    ],
    [
      "arguments with a big number",
      { type: "function_call", callId: "c", name: "n", arguments: { n: [1n] } },
      "input.arguments.n[0]: a bigint",
    ],
    ["arguments that are a list", { type: "function_call", callId: "c", name: "n", arguments: [] }, "input.arguments"],
    ["no result", { type: "function_result", callId: "c" }, "input.result: must be a JSON value"],
    [
      "a result that JSON cannot hold",
      { type: "function_result", callId: "c", result: { at: [new Map()] } },
      "input.result.at[0]: an instance of Map",
    ],
    [
      "additional properties that JSON cannot hold",
      { type: "text", text: "x", additionalProperties: { ratio: Number.NaN } },
      "input.additionalProperties.ratio: NaN",
    ],
    ["an unknown content that JSON cannot hold", { type: "unknown", raw: { f: () => 1 } }, "input.raw.f: a function"],
    ["approval that is no boolean", { type: "function_approval_response", id: "a", approved: 1 }, "input.approved"],
  ])("%s", (_, value, message) => {
    const attempt = () => contentFromInput(value, "input");
    expect(attempt).toThrow(message);
    expect(attempt).toThrow(expect.objectContaining({ code: "configuration" }));
  });
});

describe("a content that a caller passes", () => {
  test("is a copy of every type that there is", () => {
    for (const content of CONTENTS) {
      const copy = contentFromInput(content, "input");
      expect(copy).toEqual(content);
      expect(copy).not.toBe(content);
    }
  });

  test("may be a string, which is text", () => {
    expect(contentFromInput("", "input")).toEqual({ type: "text", text: "" });
  });

  test("may give its arguments as an object, which becomes the text that a model would have written", () => {
    const value = { type: "function_call", callId: "c", name: "n", arguments: { a: [1], at: new Date(0) } };
    expect(contentFromInput(value, "input")).toEqual({
      type: "function_call",
      callId: "c",
      name: "n",
      arguments: '{"a":[1],"at":"1970-01-01T00:00:00.000Z"}',
    });
  });

  test("leaves out undefined members and writes dates as text", () => {
    const value = { type: "text", text: "x", annotations: undefined, additionalProperties: { at: new Date(0) } };
    const copy = contentFromInput(value, "input");
    expect(Object.keys(copy)).toEqual(["type", "text", "additionalProperties"]);
    expect(copy).toEqual({ type: "text", text: "x", additionalProperties: { at: "1970-01-01T00:00:00.000Z" } });
  });

  test("cannot smuggle a known content past the checks by calling it unknown", () => {
    // What is stored as `raw` is read back as what it is, so it must be seen as that from the beginning.
    const request = { type: "function_approval_request", id: "a1", functionCall };
    expect(contentFromInput({ type: "unknown", raw: request }, "input")).toEqual(request);
    const broken = { type: "function_call", callId: "c" };
    expect(contentFromInput({ type: "unknown", raw: broken }, "input")).toEqual({ type: "unknown", raw: broken });
  });
});
