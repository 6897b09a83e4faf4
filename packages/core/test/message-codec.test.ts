import { describe, expect, test } from "vitest";
import {
  jsonMessageCodec,
  type Message,
  type MessageInput,
  type MessagesInput,
  messageFromJson,
  messagesFromInput,
  messageText,
  messageToJson,
} from "../src/index.ts";
import { assistant, call, deepFreeze, user } from "./support/messages.ts";

const context = { key: { owner: null, source: "history", session: "s" }, recordId: "m1" };

async function roundTrip(message: Message): Promise<Message> {
  return jsonMessageCodec.decode(await jsonMessageCodec.encode(message, context), context);
}

function parse(input: unknown): Message[] {
  return messagesFromInput(input as MessagesInput, (index) => `made${index}`);
}

describe("a message comes back as it was stored", () => {
  const full: Message = {
    role: "assistant",
    messageId: "m1",
    createdAt: "2026-01-02T03:04:05.006Z",
    authorName: "Ünï",
    contents: [
      { type: "text_reasoning", text: "first" },
      call("c1"),
      call("c2"),
      { type: "text_reasoning", protectedData: "second" },
      { type: "text", text: "last" },
    ],
    additionalProperties: { serviceId: "x", nested: { a: [null] } },
  };

  test("with all of its members and its contents in their order", async () => {
    expect(await roundTrip(full)).toEqual(full);
  });

  test.each(["system", "user", "assistant", "tool"] as const)("with the role %s", async (role) => {
    const message: Message = { role, messageId: "m1", contents: [] };
    expect(await roundTrip(message)).toEqual(message);
  });

  test("with nothing where there was nothing", async () => {
    const back = await roundTrip({ role: "user", messageId: "m1", contents: [{ type: "text", text: "" }] });
    expect(Object.keys(back).sort()).toEqual(["contents", "messageId", "role"]);
    expect(back.contents).toEqual([{ type: "text", text: "" }]);
  });

  test("with members that this version does not know, also hostile ones", async () => {
    const text =
      '{"role":"user","messageId":"m1","contents":[],"reactions":{"👍":[1]},"__proto__":{"polluted":1},"constructor":2}';
    const back = await jsonMessageCodec.decode(text, context);
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect(JSON.parse(await jsonMessageCodec.encode(back, context))).toEqual(JSON.parse(text));
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  test("with a type of its own, as other programs give their messages", async () => {
    const message = { ...user("m1"), type: "message" };
    expect(await roundTrip(message)).toEqual(message);
    expect(parse(message)).toEqual([message]);
  });

  test("over and over", async () => {
    const first = await jsonMessageCodec.encode(full, context);
    let text = first;
    for (let times = 0; times < 3; times += 1) {
      text = await jsonMessageCodec.encode(await jsonMessageCodec.decode(text, context), context);
    }
    expect(JSON.parse(text)).toEqual(JSON.parse(first));
  });

  test.each(["😀", "a\u0000b", "x\ud83dy", "\ude00", "line\nbreak\r\u2028", "\\ud83d"])(
    "with the text %j, on one line",
    async (text) => {
      const message: Message = { role: "user", messageId: "m1", contents: [{ type: "text", text }], authorName: text };
      const data = await jsonMessageCodec.encode(message, context);
      expect(data).not.toMatch(/[\r\n]/);
      expect(data.isWellFormed()).toBe(true);
      expect(await roundTrip(message)).toEqual(message);
    },
  );

  test("without its attribution, which is a run's and not the message's", async () => {
    const message: Message = { ...user("m1"), attribution: { sourceId: "docs", sourceType: "context" } };
    expect(messageToJson(message)).toEqual(user("m1"));
    expect(message.attribution).toEqual({ sourceId: "docs", sourceType: "context" });
  });

  test("and attribution that stands in a store is not taken for a run's", () => {
    const message = messageFromJson({ ...user("m1"), attribution: { sourceId: "history", sourceType: "context" } });
    expect(message.attribution).toBeUndefined();
  });
});

describe("what is stored but no message is corrupt", () => {
  test.each<[string, string]>([
    ["a number", "42"],
    ["a list", "[]"],
    ["null", "null"],
    ["a text", '"hello"'],
    ["an object with nothing in it", "{}"],
    ["an unknown role", '{"role":"developer","messageId":"m","contents":[]}'],
    ["a role that is the name of a built-in", '{"role":"constructor","messageId":"m","contents":[]}'],
    ["no id", '{"role":"user","contents":[]}'],
    ["an id that is a number", '{"role":"user","messageId":1,"contents":[]}'],
    ["contents that are a text", '{"role":"user","messageId":"m","contents":"x"}'],
    ["contents that are an object", '{"role":"user","messageId":"m","contents":{}}'],
    ["a time that is a number", '{"role":"user","messageId":"m","contents":[],"createdAt":1}'],
    ["an author that is null", '{"role":"user","messageId":"m","contents":[],"authorName":null}'],
    ["properties that are a list", '{"role":"user","messageId":"m","contents":[],"additionalProperties":[]}'],
  ])("%s", (_, text) => {
    expect(() => messageFromJson(JSON.parse(text))).toThrow(expect.objectContaining({ code: "corrupt" }));
  });
});

describe("a message that JSON cannot hold is refused with its path", () => {
  test.each<[string, Message, string]>([
    [
      "in a content",
      assistant("m", { type: "function_result", callId: "c", result: Number.NaN }),
      "contents[0].result",
    ],
    ["in an unknown content", { ...user("m"), contents: [{ type: "unknown", raw: { n: Infinity } }] }, "contents[0].n"],
    ["in its properties", { ...user("m"), additionalProperties: { at: new Map() } }, "additionalProperties.at"],
  ])("%s", (_, message, path) => {
    const attempt = () => messageToJson(message, "messages[3]");
    expect(attempt).toThrow(expect.objectContaining({ code: "configuration" }));
    expect(attempt).toThrow(`messages[3].${path}: `);
  });
});

describe("input", () => {
  test("may be one text, which is a user message with an id that was made for it", () => {
    expect(parse("")).toEqual([{ role: "user", messageId: "made0", contents: [{ type: "text", text: "" }] }]);
  });

  test("may be a list of texts and messages, in their order and with the ids that they have", () => {
    const message: MessageInput = { role: "system", contents: ["a", { type: "text", text: "b" }], messageId: "mine" };
    expect(parse(["one", message, { role: "user", contents: "three" }])).toEqual([
      { role: "user", messageId: "made0", contents: [{ type: "text", text: "one" }] },
      {
        role: "system",
        messageId: "mine",
        contents: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      { role: "user", messageId: "made2", contents: [{ type: "text", text: "three" }] },
    ]);
    expect(parse([])).toEqual([]);
  });

  test("may give its time as a date, which becomes text", () => {
    const [message] = parse({ role: "user", contents: "x", createdAt: new Date(0) });
    expect(message?.createdAt).toBe("1970-01-01T00:00:00.000Z");
  });

  test("keeps members of a later version, and drops an attribution that a caller made up", () => {
    const [message] = parse({
      role: "user",
      contents: "x",
      reactions: ["👍"],
      attribution: { sourceId: "history", sourceType: "history" },
    });
    expect(message).toEqual({ ...user("made0", "x"), reactions: ["👍"] });
    expect(message?.attribution).toBeUndefined();
  });

  test("is copied and never changed, however deep", () => {
    const input = deepFreeze({
      role: "user" as const,
      contents: [{ type: "text" as const, text: "x", additionalProperties: { list: [{ a: 1 }] } }],
      additionalProperties: { nested: { b: 2 } },
    });
    const [message] = parse(input);
    expect(message).toEqual({ ...input, messageId: "made0" });
    expect(message?.contents[0]?.type === "text" && message.contents[0].additionalProperties).not.toBe(
      input.contents[0]?.additionalProperties,
    );
    expect(message?.additionalProperties?.["nested"]).not.toBe(input.additionalProperties.nested);
  });

  test("says the same thing twice and means it: messages are told apart by their ids alone", () => {
    expect(parse(["yes", "yes"]).map(({ messageId }) => messageId)).toEqual(["made0", "made1"]);
  });

  test.each<[string, unknown, string]>([
    ["undefined", undefined, "messages[0]: must be a string or a message object"],
    ["a number", 5, "messages[0]: must be a string or a message object"],
    ["null in a list", ["x", null], "messages[1]: must be a string or a message object"],
    // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested.
    ["a hole in a list", [, "x"], "messages[0]: must be a string or a message object"],
    ["a list in a list", [["x"]], "messages[0]: must be a string or a message object"],
    ["an instance of a class", new (class Message {})(), "messages[0]: must be a string or a message object"],
    ["no role", { contents: "x" }, "messages[0].role: must be system, user, assistant or tool"],
    ["an unknown role", { role: "developer", contents: "x" }, "messages[0].role: must be"],
    ["no contents", { role: "user" }, "messages[0].contents: must be a string or an array of contents"],
    ["contents that are one content", { role: "user", contents: { type: "text", text: "x" } }, "messages[0].contents"],
    // biome-ignore lint/suspicious/noSparseArray: the hole is what is tested.
    ["a hole in the contents", { role: "user", contents: [, "x"] }, "messages[0].contents[0]: must be"],
    ["an unknown content", { role: "user", contents: ["x", { type: "hologram" }] }, "messages[0].contents[1].type"],
    ["an empty id", { role: "user", contents: "x", messageId: "" }, "messages[0].messageId: must be a non-empty"],
    ["an id that is a number", { role: "user", contents: "x", messageId: 5 }, "messages[0].messageId"],
    ["an id that is null", { role: "user", contents: "x", messageId: null }, "messages[0].messageId"],
    [
      "an id twice",
      [
        { role: "user", contents: "x", messageId: "a" },
        { role: "user", contents: "y", messageId: "a" },
      ],
      "messages[1].messageId: must not repeat",
    ],
    ["an id that was made for another", ["x", { role: "user", contents: "y", messageId: "made0" }], "messages[1]"],
    [
      "a time that is a number",
      { role: "user", contents: "x", createdAt: 5 },
      "messages[0].createdAt: must be a string",
    ],
    ["an invalid time", { role: "user", contents: "x", createdAt: new Date(Number.NaN) }, "messages[0].createdAt"],
    ["an author that is an object", { role: "user", contents: "x", authorName: {} }, "messages[0].authorName"],
    ["properties that are null", { role: "user", contents: "x", additionalProperties: null }, "messages[0].additional"],
    ["properties that are a list", { role: "user", contents: "x", additionalProperties: [] }, "messages[0].additional"],
    [
      "properties of a class",
      { role: "user", contents: "x", additionalProperties: new Map() },
      "messages[0].additional",
    ],
    [
      "an unknown member that JSON cannot hold",
      { role: "user", contents: "x", when: 1n },
      "messages[0].when: a bigint",
    ],
  ])("is refused with its path: %s", (_, input, message) => {
    const attempt = () => parse(input);
    expect(attempt).toThrow(message);
    expect(attempt).toThrow(expect.objectContaining({ code: "configuration" }));
  });
});

test("the text of a message is its text contents, joined without a separator", () => {
  expect(messageText(assistant("m", "a", { type: "text_reasoning", text: "not this" }, "b", call("c"), ""))).toBe("ab");
  expect(messageText({ contents: [] })).toBe("");
});
