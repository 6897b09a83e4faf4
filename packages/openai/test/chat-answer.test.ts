import { describe, expect, it } from "vitest";
import { AnswerReader } from "../src/answer-reader.ts";
import { pieceFromChunk, pieceFromCompletion } from "../src/chat-answer.ts";

describe("a chunk", () => {
  it.each<[string, unknown]>([
    ["nothing", null],
    ["a list", []],
    ["a choice that is none", { choices: [7] }],
    ["a delta that is none", { choices: [{ delta: "x" }] }],
    ["usage that is none", { choices: [], usage: 7 }],
    ["arguments that are none", { choices: [{ delta: { tool_calls: [{ function: { arguments: 7 } }] } }] }],
  ])("is refused when it is or holds %s", (_, chunk) => {
    expect(() => pieceFromChunk(chunk)).toThrow(expect.objectContaining({ code: "unavailable" }));
  });

  it("may leave out everything that says nothing", () => {
    const nothing = { contents: [], toolCalls: [], id: undefined, finishReason: undefined, usage: undefined };
    for (const chunk of [{}, { choices: null }, { choices: [{}] }, { choices: [{ delta: null }], created: 1e300 }]) {
      expect(pieceFromChunk(chunk)).toMatchObject(nothing);
    }
    expect(pieceFromChunk({ usage: { prompt_tokens: "many" } }).usage).toBeUndefined();
  });

  it("is read for its first choice only", () => {
    const choice = (index: number, content: string) => ({ index, delta: { content } });
    expect(pieceFromChunk({ choices: [choice(1, "b"), choice(0, "a")] }).contents).toEqual([
      { type: "text", text: "a" },
    ]);
    expect(pieceFromChunk({ choices: [choice(1, "b")] }).contents).toEqual([]);
  });
});

describe("a completion", () => {
  it("needs a message in its first choice", () => {
    for (const body of [{}, { choices: [{ index: 1, message: {} }] }, { choices: [{ message: null }] }]) {
      expect(() => pieceFromCompletion(body)).toThrow(expect.objectContaining({ code: "unavailable" }));
    }
  });
});

describe("an answer without contents", () => {
  it("is complete when the service says so, and tells whose it is with its end", () => {
    const reader = new AnswerReader();
    expect(reader.read(pieceFromChunk({ choices: [{ delta: {}, finish_reason: "stop" }] }))).toBeUndefined();
    expect(reader.end()).toEqual({ role: "assistant", contents: [], finishReason: "stop" });
  });
});
