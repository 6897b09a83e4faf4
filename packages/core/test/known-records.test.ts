import { afterEach, describe, expect, test, vi } from "vitest";
import {
  type HistoryRecord,
  InMemoryHistoryStore,
  jsonMessageCodec,
  type Message,
  openConversation,
} from "../src/index.ts";
import { assistant, call, deepFreeze, ids, resultOf, user } from "./support/messages.ts";

const place = { owner: null, sessionId: "s" };
const key = { owner: null, source: "history", session: "s" };

const hostile: unknown = JSON.parse('{"__proto__":{"polluted":1},"2":"b","1":"a","constructor":null}');

const messages: readonly Message[] = deepFreeze([
  {
    ...user("zero"),
    additionalProperties: { negative: -0, small: 5e-324, list: [-0, undefined, null], none: undefined },
  },
  { ...user("hostile"), additionalProperties: { hostile }, authorName: "\ud83d\u2028\u0000" },
  { ...user("bytes"), contents: [{ type: "data", data: Uint8Array.of(0, 255), mediaType: "x/y", name: "a" }] },
  { ...user("later"), contents: [{ type: "unknown", raw: { type: "hologram", at: [1, { x: -0 }] } }] },
  { ...user("known"), contents: [{ type: "unknown", raw: { type: "data", data: "AP8=", mediaType: "x/y" } }] },
  { ...user("context"), attribution: { sourceId: "docs", sourceType: "context" }, createdAt: "2026-01-01T00:00:00Z" },
  assistant("a1", { ...call("A"), annotations: [{ list: [1] }] }, "and"),
  resultOf("a1", "A", { deep: [-0, { a: null }] }),
  { role: "assistant", messageId: "empty", contents: [] },
]);

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a message that this process has just stored", () => {
  test("is read as any other process reads it", async () => {
    const store = new InMemoryHistoryStore();
    await openConversation(store, place).append(messages);
    const { records } = await store.read(key);
    const elsewhere = records.map(({ id, data }) => jsonMessageCodec.decode(data, { key, recordId: id }));
    const { messages: read } = await openConversation(store, place).messages();
    expect(read).toEqual(await Promise.all(elsewhere));
    expect(JSON.stringify(read)).toBe(JSON.stringify(await Promise.all(elsewhere)));
    expect(ids(read)).toEqual(ids(messages));
  });

  test("is stored as the codec writes it", async () => {
    const store = new InMemoryHistoryStore();
    await openConversation(store, place).append(messages);
    const written = messages.map((message) => jsonMessageCodec.encode(message, { key, recordId: message.messageId }));
    const { records } = await store.read(key);
    expect(records.map(({ data }) => JSON.parse(data))).toEqual(
      (await Promise.all(written)).map((text) => JSON.parse(text)),
    );
  });

  test("is parsed neither by the store in memory nor when it is read", async () => {
    const conversation = openConversation(new InMemoryHistoryStore(), place);
    const parse = vi.spyOn(JSON, "parse");
    await conversation.append(messages);
    await conversation.messages();
    expect(parse).not.toHaveBeenCalled();
  });
});

describe("a record that was written elsewhere", () => {
  test("is checked once, and parsed once however often it is read", async () => {
    const store = new InMemoryHistoryStore();
    const conversation = openConversation(store, place);
    const parse = vi.spyOn(JSON, "parse");
    await store.append(key, [{ id: "u1", data: JSON.stringify(user("u1")) }]);
    for (let times = 0; times < 3; times += 1) {
      expect((await conversation.messages()).messages).toEqual([user("u1")]);
    }
    expect(parse).toHaveBeenCalledTimes(2);
  });

  test("is no known one for having the prototype of one", async () => {
    const store = new InMemoryHistoryStore();
    await openConversation(store, place).append([user("u1")]);
    const [known] = (await store.read(key)).records;
    const forged: HistoryRecord = Object.create(known ?? null, { id: { value: "u2" }, data: { value: "no JSON" } });
    await expect(store.append(key, [forged])).rejects.toMatchObject({ code: "configuration" });
    const cloned = Object.assign(Object.create(Object.getPrototypeOf(known)), { ...known, id: "u2" });
    await store.append({ ...key, session: "t" }, [cloned]);
    cloned.id = "u3";
    expect((await store.read({ ...key, session: "t" })).records).toEqual([{ ...known, id: "u2" }]);
  });

  test("is plain data: frozen, and nothing more than its id and its text", async () => {
    const store = new InMemoryHistoryStore();
    await openConversation(store, place).append([user("u1")]);
    await store.append(key, [{ id: "u2", data: "{}" }]);
    for (const record of (await store.read(key)).records) {
      expect(Object.isFrozen(record)).toBe(true);
      expect(Object.keys(record)).toEqual(["id", "data"]);
      expect(structuredClone(record)).toEqual({ ...record });
    }
  });
});
