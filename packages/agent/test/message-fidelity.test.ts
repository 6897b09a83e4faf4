import type { Content, Message, MessageInput } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { open, reopen } from "./fixture.ts";
import { call } from "./scripted-client.ts";

const look = { name: "look", parameters: { type: "object" }, execute: () => 1 };

/** Contents as stored and as sent, without what a run adds to a message. */
function contentsOf(messages: readonly Message[], role: Message["role"]): readonly Content[] {
  return messages.filter((message) => message.role === role).flatMap(({ contents }) => contents);
}

describe("What the model says", () => {
  it("keeps the order and every member of its parts in the store and in the next request", async () => {
    const parts: Content[] = [
      { type: "text_reasoning", text: "first", protectedData: "c2VjcmV0" },
      call("1", "look"),
      call("2", "look", { again: true }),
      { type: "text_reasoning", text: "then", additionalProperties: { step: 2 } },
      {
        type: "text",
        text: "as the source says",
        annotations: [{ type: "citation", url: "https://example.org", range: [3, 9] }],
        additionalProperties: { nested: { deep: [null, 1.5] } },
      },
      { type: "data", data: new Uint8Array([0, 255, 254, 128]), mediaType: "image/png", name: "chart.png" },
      { type: "uri", uri: "https://example.org/a.png", mediaType: "image/png" },
      { type: "hosted_file", fileId: "file_1", name: "report.pdf" },
      { type: "unknown", raw: { type: "hologram", frames: [{ x: 1 }] } },
    ];
    const first = open([{ pieces: parts.map((part) => ({ contents: [part] })) }, "done"], { tools: [look] });
    await first.agent.run("go", { session: first.session() });
    const stored = contentsOf(await first.stored(), "assistant");
    const second = reopen(first, ["more"], { tools: [look] });
    await second.agent.run("again", { session: second.session() });
    expect(stored.slice(0, -1)).toEqual(parts);
    expect(contentsOf(second.client.calls[0]?.messages ?? [], "assistant")).toEqual(stored);
  });

  it("joins pieces of text and of reasoning, and keeps apart what carries marks of its own", async () => {
    const cited: Content = { type: "text", text: "b", annotations: [{ url: "x" }] };
    const pieces = [
      [{ type: "text_reasoning", text: "hm, " }],
      [{ type: "text_reasoning", text: "well", protectedData: "sig" }],
      [{ type: "text", text: "a" }],
      [{ type: "text", text: "a" }],
      [cited],
      [{ type: "text", text: "c" }],
    ] satisfies Content[][];
    const { agent } = open([{ pieces: pieces.map((contents) => ({ contents })) }]);
    const { messages, text } = await agent.run("go");
    expect(messages[0]?.contents).toEqual([
      { type: "text_reasoning", text: "hm, well", protectedData: "sig" },
      { type: "text", text: "aa" },
      cited,
      { type: "text", text: "c" },
    ]);
    expect(text).toBe("aabc");
  });

  it("sums usage over the calls of a run and keeps it out of the messages", async () => {
    const usage = (inputTokenCount: number, outputTokenCount?: number): Content => ({
      type: "usage",
      details: outputTokenCount === undefined ? { inputTokenCount } : { inputTokenCount, outputTokenCount },
    });
    const { agent, session, stored } = open(
      [
        { pieces: [{ contents: [call("1", "look"), usage(10, 2)] }] },
        { pieces: [{ contents: [{ type: "text", text: "done" }, usage(30)], finishReason: "stop", model: "m-1" }] },
      ],
      { tools: [look] },
    );
    const response = await agent.run("go", { session: session() });
    expect(response.usage).toEqual({ inputTokenCount: 40, outputTokenCount: 2 });
    expect([response.finishReason, response.model]).toEqual(["stop", "m-1"]);
    expect(JSON.stringify(await stored())).not.toContain("usage");
  });

  it("is refused with the response on the error when it cannot be stored, and nothing of the turn is", async () => {
    const odd = { type: "text", text: "a", additionalProperties: { n: 1n } } as const;
    const { agent, session, stored } = open([[odd], "fine"]);
    await expect(agent.run("go", { session: session() })).rejects.toMatchObject({
      code: "configuration",
      message: expect.stringContaining("additionalProperties.n"),
      response: { text: "a" },
    });
    expect(await stored()).toEqual([]);
    await agent.run("go", { session: session() });
    expect(await stored()).toHaveLength(2);
  });
});

describe("What the caller says", () => {
  it("is stored by one rule for every kind of value", async () => {
    const given = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
    const message: MessageInput = {
      role: "user",
      contents: [{ type: "text", text: "emoji \u{1F600}, NUL \u0000, lone \uD800" }],
      createdAt: new Date(0),
      authorName: "Ann",
      additionalProperties: { none: undefined, nothing: null, list: [undefined, 1], at: new Date(0), given },
    };
    const first = open(["hi"]);
    await first.agent.run(message, { session: first.session() });
    const second = reopen(first, ["ho"]);
    await second.agent.run("again", { session: second.session() });
    const [stored] = await second.stored();
    expect(stored).toMatchObject({
      contents: message.contents,
      createdAt: "1970-01-01T00:00:00.000Z",
      authorName: "Ann",
    });
    const extras = stored?.additionalProperties ?? {};
    expect(Object.keys(extras)).toEqual(["nothing", "list", "at", "given"]);
    expect(extras).toMatchObject({ nothing: null, list: [null, 1], at: "1970-01-01T00:00:00.000Z" });
    expect(Object.keys(extras["given"] as object)).toEqual(["__proto__", "constructor"]);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(second.client.calls[0]?.messages[0]?.contents).toEqual(message.contents);
  });

  it("is copied: what the caller does with his objects later changes nothing", async () => {
    const contents: Content[] = [{ type: "text", text: "first" }];
    const message: MessageInput = { role: "user", contents };
    const { agent, client, session, stored } = open(["hi"]);
    const run = agent.run(message, { session: session() });
    contents.push({ type: "text", text: "second" });
    await run;
    expect(client.calls[0]?.messages[0]?.contents).toEqual([{ type: "text", text: "first" }]);
    expect((await stored())[0]?.contents).toEqual([{ type: "text", text: "first" }]);
    expect(Object.keys(message)).toEqual(["role", "contents"]);
  });
});
