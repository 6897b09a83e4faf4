import type { Content } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { toInputItems } from "../src/responses-messages.ts";
import { call, message } from "./helpers.ts";

const BYTES = new Uint8Array([0, 255, 7]);
const ADD = call("c1", "add", '{ "a": 12345678901234567890 }');
const THOUGHT: Content = { type: "text_reasoning", text: "hm", protectedData: "ZW5j" };

function user(...contents: (Content | string)[]) {
  return toInputItems([message("user", ...contents)], "system")[0];
}

describe("input items", () => {
  it("say what was said, in order, and nothing that is empty", () => {
    const messages = [
      message("system", "", "Be brief.", "", "Be kind."),
      message("user", ""),
      message("user", "Hi"),
      message("assistant", "", "Hello.", ADD),
      message("tool", { type: "function_result", callId: "c1", result: { sum: 3 } }),
      message("tool", { type: "function_result", callId: "c2", result: null, exception: "failed" }),
    ];
    expect(toInputItems(messages, "developer")).toEqual([
      { type: "message", role: "developer", content: "Be brief.\nBe kind." },
      { type: "message", role: "user", content: "Hi" },
      { type: "message", role: "assistant", content: "Hello." },
      { type: "function_call", call_id: "c1", name: "add", arguments: '{ "a": 12345678901234567890 }' },
      { type: "function_call_output", call_id: "c1", output: '{"sum":3}' },
      { type: "function_call_output", call_id: "c2", output: "Error: failed" },
    ]);
  });

  it.each<[string, Content, object]>([
    ["bytes", { type: "data", data: BYTES, mediaType: "image/png" }, { image_url: "data:image/png;base64,AP8H" }],
    ["an address", { type: "uri", uri: "https://a/b.png", mediaType: "image/png" }, { image_url: "https://a/b.png" }],
    ["a kept file", { type: "hosted_file", fileId: "file-1", mediaType: "image/png" }, { file_id: "file-1" }],
  ])("show an image from %s", (_, content, source) => {
    expect(user("Look", content)).toEqual({
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "Look" },
        { type: "input_image", detail: "auto", ...source },
      ],
    });
  });

  it.each<[string, Content, object]>([
    [
      "bytes",
      { type: "data", data: BYTES, mediaType: "application/pdf", name: "a.pdf" },
      { file_data: "data:application/pdf;base64,AP8H", filename: "a.pdf" },
    ],
    [
      "an address",
      { type: "uri", uri: "https://a/b.pdf", mediaType: "application/pdf" },
      { file_url: "https://a/b.pdf" },
    ],
    ["a kept file", { type: "hosted_file", fileId: "file-1" }, { file_id: "file-1" }],
  ])("hand on a file from %s", (_, content, source) => {
    expect(user(content)).toMatchObject({ content: [{ type: "input_file", ...source }] });
  });

  it.each<[string, ReturnType<typeof message>]>([
    ["sound", message("user", { type: "data", data: BYTES, mediaType: "audio/wav" })],
    ["an image without a type", message("user", { type: "uri", uri: "https://a/b.png" })],
    ["an image of the assistant", message("assistant", { type: "data", data: BYTES, mediaType: "image/png" })],
    ["a call of the user", message("user", ADD)],
    ["text of a tool", message("tool", "3")],
    ["an image of the system", message("system", { type: "data", data: BYTES, mediaType: "image/png" })],
  ])("refuse %s by name", (_, refused) => {
    expect(() => toInputItems([message("user", "Hi"), refused], "system")).toThrow(
      expect.objectContaining({ code: "unsupported", message: expect.stringContaining("messages[1]") }),
    );
  });
});

describe("reasoning", () => {
  const REASONING = { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "ZW5j" };

  it.each<[string, Content | string]>([
    ["a call", ADD],
    ["a text", "Hello."],
  ])("goes back encrypted, right before %s", (_, partner) => {
    const items = toInputItems([message("assistant", THOUGHT, partner)], "system");
    expect(items).toHaveLength(2);
    expect(items[0]).toEqual(REASONING);
  });

  it("goes back in a message of its own too, before the message that it led to", () => {
    const items = toInputItems([message("assistant", THOUGHT), message("assistant", ADD)], "system");
    expect(items.map(({ type }) => type)).toEqual(["reasoning", "function_call"]);
  });

  it("says nothing that it did not say, and names no item that the service may not have", () => {
    const items = toInputItems(
      [message("assistant", { type: "text_reasoning", protectedData: "ZW5j" }, "Hello.")],
      "system",
    );
    expect(items[0]).toEqual({ type: "reasoning", summary: [], encrypted_content: "ZW5j" });
  });

  it.each<[string, (Content | string)[]]>([
    ["it is plain", [{ type: "text_reasoning", text: "hm" }, "Hello."]],
    ["it is empty", [{ type: "text_reasoning", text: "hm", protectedData: "" }, "Hello."]],
    ["what it led to is not sent", [THOUGHT, { type: "unknown", raw: { type: "web_search_call" } }, "Hello."]],
    ["what it led to is empty", [THOUGHT, ""]],
  ])("stays here when %s", (_, contents) => {
    const items = toInputItems([message("assistant", ...contents), message("user", "Hi")], "system");
    expect(items.map(({ type }) => type)).not.toContain("reasoning");
  });

  it("of two steps goes with each of them", () => {
    const second: Content = { ...THOUGHT, protectedData: "b" };
    const items = toInputItems([message("assistant", THOUGHT, second, ADD, THOUGHT, "Hello.", second)], "system");
    expect(items.map(({ type }) => type)).toEqual(["reasoning", "reasoning", "function_call", "reasoning", "message"]);
  });
});
