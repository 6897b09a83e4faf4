import { describe, expect, test } from "vitest";
import {
  AgentFrameworkError,
  type Conversation,
  type ConversationSettings,
  type DiagnosticEvent,
  type HistoryStore,
  InMemoryHistoryStore,
  type Message,
  type MessageCodec,
  type OpenConversationOptions,
  openConversation,
} from "../src/index.ts";
import {
  approvalRequest,
  approvalResponse,
  assistant,
  call,
  deepFreeze,
  ids,
  reasoning,
  resultOf,
  toolMessage,
  user,
} from "./support/messages.ts";
import { violations } from "./support/model-checker.ts";
import { RecordingStore } from "./support/stores.ts";

function open(store: HistoryStore, settings: ConversationSettings = {}): Conversation {
  return openConversation(store, { owner: "ann", sessionId: "s", ...settings });
}

async function allPages(conversation: Conversation, last: number): Promise<Message[][]> {
  const pages: Message[][] = [];
  let before: string | undefined;
  do {
    const page = await conversation.messages({ last, before });
    pages.unshift([...page.messages]);
    before = page.older;
    expect(pages.length).toBeLessThan(500);
  } while (before !== undefined);
  return pages;
}

const plain = (count: number) => Array.from({ length: count }, (_, index) => user(`m${index}`));

describe("opening a conversation", () => {
  test("asks the store nothing", () => {
    const store = new RecordingStore();
    open(store);
    expect(store.calls).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    ["no owner", { sessionId: "s" }, "owner"],
    ["an owner that is a number", { sessionId: "s", owner: 1 }, "owner"],
    ["no session", { owner: null }, "session"],
    ["an empty session", { owner: null, sessionId: "" }, "session"],
    ["an empty source", { owner: null, sessionId: "s", source: "" }, "source"],
    ["a timeout of zero", { owner: null, sessionId: "s", timeoutMs: 0 }, "timeoutMs"],
    ["an endless timeout", { owner: null, sessionId: "s", timeoutMs: Infinity }, "timeoutMs"],
    ["an unknown rule for damage", { owner: null, sessionId: "s", onCorrupt: "ignore" }, "onCorrupt"],
    ["half a codec", { owner: null, sessionId: "s", codec: { encode: () => "{}" } }, "codec"],
  ])("is refused with %s, naming it", (_, options, field) => {
    const attempt = () => openConversation(new InMemoryHistoryStore(), options as OpenConversationOptions);
    expect(attempt).toThrow(expect.objectContaining({ code: "configuration" }));
    expect(attempt).toThrow(field);
  });

  test("is refused for a store of a later contract, and for what is no store", () => {
    const later = { contractVersion: 2 } as unknown as HistoryStore;
    expect(() => open(later)).toThrow(expect.objectContaining({ code: "unsupported" }));
    for (const none of [undefined, null, {}, "x"] as unknown as HistoryStore[]) {
      expect(() => open(none)).toThrow(expect.objectContaining({ code: "configuration" }));
    }
  });

  test("keeps conversations apart by owner, source and session, whatever their names hold", async () => {
    const store = new InMemoryHistoryStore();
    const names = [
      ["a:b", "c", "s"],
      ["a", "b:c", "s"],
      ["a", "b", "c:s"],
      [null, "history", "s"],
      ["", "history", "s"],
      ["null", "history", "s"],
      ["a", "history", "S"],
      ["a", "history", "s"],
      ["a", "__proto__", "s"],
      ["a", "history", "\ud83d"],
      ["a", "history", "\ud83e"],
      ['a","b', "c", "s"],
    ] as const;
    const opened = names.map(([owner, source, sessionId]) => openConversation(store, { owner, source, sessionId }));
    for (const [index, conversation] of opened.entries()) {
      await conversation.append(user("same id", `text ${index}`));
    }
    for (const [index, conversation] of opened.entries()) {
      expect((await conversation.messages()).messages).toEqual([user("same id", `text ${index}`)]);
    }
    await opened[0]!.clear();
    expect((await opened[0]!.messages()).messages).toEqual([]);
    expect((await opened[1]!.messages()).messages).toHaveLength(1);
  });
});

describe("appending", () => {
  test("keeps the order and gives the version afterwards", async () => {
    const conversation = open(new InMemoryHistoryStore());
    expect((await conversation.messages()).version).toBe("");
    const { version: first } = await conversation.append(plain(3));
    const { version: second } = await conversation.append([user("x"), "text", user("a")]);
    expect(second).not.toBe(first);
    const { messages, version } = await conversation.messages();
    expect(version).toBe(second);
    expect(messages.map((message) => message.contents)).toEqual(
      ["m0", "m1", "m2", "x", "text", "a"].map((text) => [{ type: "text", text }]),
    );
  });

  test("stores a message once, however often it is sent, and a true repeat twice", async () => {
    const conversation = open(new InMemoryHistoryStore());
    const replay = (...texts: string[]) => texts.map((text, index) => user(`id${index}`, text));
    await conversation.append(replay("yes", "one"));
    await conversation.append(JSON.parse(JSON.stringify(replay("yes", "one", "yes"))));
    await conversation.append([user("id3", "two")]);
    await conversation.append([user("id4", "yes")]);
    await conversation.append(replay("yes", "one", "yes", "two", "yes", "stop"));
    const { messages } = await conversation.messages();
    expect(messages.map(({ contents }) => contents[0])).toEqual(
      ["yes", "one", "yes", "two", "yes", "stop"].map((text) => ({ type: "text", text })),
    );
  });

  test("takes messages without ids as new ones, each time", async () => {
    const conversation = open(new InMemoryHistoryStore());
    await conversation.append(["yes", "yes"]);
    await conversation.append(["yes", "yes"]);
    expect(new Set(ids((await conversation.messages()).messages)).size).toBe(4);
  });

  test("stores all or nothing: one bad message keeps the others out", async () => {
    const store = new RecordingStore();
    const conversation = open(store);
    const bad = { ...user("bad"), additionalProperties: { n: 1n } };
    await expect(conversation.append([user("a"), bad, user("b")])).rejects.toMatchObject({
      code: "configuration",
      message: expect.stringContaining("messages[1].additionalProperties.n"),
    });
    expect(store.appends).toBe(0);
  });

  test("never changes what it is given", async () => {
    const messages = deepFreeze([assistant("a1", call("A")), { ...user("u1"), additionalProperties: { list: [{}] } }]);
    const conversation = open(new InMemoryHistoryStore());
    await conversation.append(messages);
    expect((await conversation.messages()).messages).toEqual(messages);
  });

  test("keeps each of 100 parallel calls of four messages together", async () => {
    const conversation = open(new InMemoryHistoryStore());
    const batch = (number: number) => [0, 1, 2, 3].map((part) => user(`${number}.${part}`));
    await Promise.all(Array.from({ length: 100 }, (_, number) => conversation.append(batch(number))));
    const { messages } = await conversation.messages();
    expect(messages).toHaveLength(400);
    for (let start = 0; start < 400; start += 4) {
      const number = Number(messages[start]?.messageId.split(".")[0]);
      expect(messages.slice(start, start + 4)).toEqual(batch(number));
    }
  });

  test("is refused with a conflict and the current version when another writer came first", async () => {
    const conversation = open(new InMemoryHistoryStore());
    const { version } = await conversation.append("one", { ifVersion: "" });
    await expect(conversation.append("two", { ifVersion: "" })).rejects.toMatchObject({
      code: "conflict",
      currentVersion: version,
    });
    await conversation.append("two", { ifVersion: version });
    expect((await conversation.messages()).messages).toHaveLength(2);
  });

  test("ends with the abort when it is aborted before, and nothing is stored", async () => {
    const conversation = open(new InMemoryHistoryStore());
    await expect(conversation.append("x", { signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect((await conversation.messages()).messages).toEqual([]);
  });

  test("of half a megabyte of emoji, NUL and lone surrogates comes back equal", async () => {
    const text = "😀\u0000\ud83d\ude00\ud83d ".repeat(40_000);
    const conversation = open(new InMemoryHistoryStore());
    await conversation.append(user("m", text));
    expect((await conversation.messages()).messages).toEqual([user("m", text)]);
  });
});

describe("reading", () => {
  test("hands out copies: what a reader changes is not in what is read next", async () => {
    const conversation = open(new InMemoryHistoryStore());
    const stored = [
      assistant("a1", { ...call("A"), annotations: [{ list: [1] }] }),
      resultOf("a1", "A", { deep: [1] }),
    ];
    const bytes: Message = {
      ...user("u1"),
      contents: [{ type: "data", data: Uint8Array.of(1, 2), mediaType: "x/y" }],
      additionalProperties: { nested: { a: 1 } },
    };
    await conversation.append([...stored, bytes]);
    for (let times = 0; times < 3; times += 1) {
      const { messages } = await conversation.messages();
      expect(messages).toEqual([...stored, bytes]);
      spoil(messages);
    }
  });

  test("gives nothing, and no cursor, of a conversation that is not there", async () => {
    const conversation = open(new InMemoryHistoryStore());
    expect(await conversation.messages()).toMatchObject({ messages: [], version: "" });
    expect(await conversation.messages({ last: 3 })).toEqual({ messages: [], version: "", older: undefined });
  });

  test.each([0, -1, 1.5, Number.NaN])("is refused for the last %d messages", async (last) => {
    await expect(open(new InMemoryHistoryStore()).messages({ last })).rejects.toMatchObject({ code: "configuration" });
  });

  test("passes the store's failure on: it is never an empty answer", async () => {
    class Down extends InMemoryHistoryStore {
      override async read(): Promise<never> {
        throw new Error("connection refused");
      }
    }
    for (const settings of [{}, { onCorrupt: "skip" }] as const) {
      const expected = { code: "unavailable", cause: { message: "connection refused" } };
      await expect(open(new Down(), settings).messages()).rejects.toMatchObject(expected);
      await expect(open(new Down(), settings).messages({ last: 2 })).rejects.toMatchObject(expected);
    }
  });
});

test.each([undefined, null, {}, { records: "none", version: "1" }])(
  "a page that is none (%j) is corrupt, not empty",
  async (page) => {
    class Broken extends InMemoryHistoryStore {
      override async read(): Promise<never> {
        return page as never;
      }
    }
    await expect(open(new Broken()).messages()).rejects.toMatchObject({ code: "corrupt" });
  },
);

test("a store that gives the same cursor again is corrupt, and no load without an end", async () => {
  class Stuck extends InMemoryHistoryStore {
    override async read() {
      return { records: [], version: "1", older: "x" };
    }
  }
  await expect(open(new Stuck()).messages({ last: 3 })).rejects.toMatchObject({ code: "corrupt" });
  await expect(open(new Stuck()).truncateAfter("m1")).rejects.toMatchObject({ code: "corrupt" });
});

test("a write that fails with an error of somebody else's may have happened", async () => {
  class Odd extends InMemoryHistoryStore {
    override append(): Promise<never> {
      throw new TypeError("driver bug");
    }
  }
  const expected = { code: "outcome_unknown", retryable: true, cause: { message: "driver bug" } };
  await expect(open(new Odd()).append("hello")).rejects.toMatchObject(expected);
});

describe("pages", () => {
  test.each([1, 2, 3, 7, 10, 11, 50])("of %i cover a plain conversation once, in order", async (last) => {
    const conversation = open(new InMemoryHistoryStore());
    await conversation.append(plain(25));
    const pages = await allPages(conversation, last);
    expect(pages.flat()).toEqual(plain(25));
    expect(pages.every((page) => page.length <= last)).toBe(true);
    expect(pages).toHaveLength(Math.ceil(25 / last));
  });

  test("count everything that is stored, also what a model is not sent", async () => {
    const conversation = open(new InMemoryHistoryStore());
    const stored = [1, 2, 3, 4, 5].flatMap((turn): Message[] => [
      assistant(`a${turn}`, call("A"), approvalRequest(`a${turn}/A`, call("A"))),
      { role: "user", messageId: `u${turn}`, contents: [approvalResponse(`a${turn}/A`)] },
      resultOf(`a${turn}`, "A"),
      reasoning(`r${turn}`),
      user(`v${turn}`),
    ]);
    await conversation.append(stored);
    for (let last = 1; last <= 26; last += 1) {
      const pages = await allPages(conversation, last);
      expect(pages.flat()).toEqual(stored);
      expect(pages.every((page) => page.length <= Math.max(last, 3))).toBe(true);
    }
  });

  test("keep a tool message that answers two calls with both, and split it when they are in two pages", async () => {
    const conversation = open(new InMemoryHistoryStore());
    await conversation.append([assistant("a1", call("A"), call("B")), toolMessage("t1", "A", "B"), user("u1")]);
    expect((await allPages(conversation, 2)).map(ids)).toEqual([["a1", "t1"], ["u1"]]);
    const apart = openConversation(new InMemoryHistoryStore(), { owner: null, sessionId: "apart" });
    await apart.append([
      assistant("a1", call("A")),
      user("u1"),
      assistant("a2", call("B")),
      toolMessage("t1", "A", "B"),
    ]);
    const { messages } = await apart.messages({ last: 2 });
    expect(messages).toEqual([assistant("a2", call("B")), toolMessage("t1", "B")]);
  });

  test("hold no result whose call is not in them", async () => {
    const conversation = open(new InMemoryHistoryStore());
    await conversation.append([assistant("a1", call("A")), ...plain(10), resultOf("a1", "A"), user("end")]);
    for (let last = 1; last <= 13; last += 1) {
      const { messages } = await conversation.messages({ last });
      const problems = violations(messages).filter((problem) => problem.includes("without an open call"));
      expect(problems).toEqual(last >= 13 ? expect.anything() : []);
      expect(ids(messages).includes("a1/A")).toBe(last >= 13);
    }
  });

  test("cover everything once while others append", async () => {
    const store = new RecordingStore();
    const conversation = open(store);
    await conversation.append(plain(40));
    let appended = 0;
    const read = store.read.bind(store);
    store.read = async (...given) => {
      const page = await read(...given);
      appended += 1;
      await conversation.append(user(`new${appended}`));
      return page;
    };
    const pages = await allPages(conversation, 7);
    const seen = ids(pages.flat()).filter((id) => id.startsWith("m"));
    expect(seen).toEqual(ids(plain(40)));
    expect(appended).toBeGreaterThan(6);
  });

  test.each([1, 2, 3, 4, 5, 8])("of %i, in groups, cover everything once while others append", async (last) => {
    const store = new RecordingStore();
    const conversation = open(store);
    const turn = (name: string) => [user(`${name}.u`), assistant(`${name}.a`, call("A")), resultOf(`${name}.a`, "A")];
    const stored = Array.from({ length: 12 }, (_, index) => turn(`t${index}`)).flat();
    await conversation.append(stored);
    const read = store.read.bind(store);
    let appended = 0;
    store.read = async (...given) => {
      const page = await read(...given);
      appended += 1;
      await conversation.append(turn(`new${appended}`));
      return page;
    };
    const pages = await allPages(conversation, last);
    expect(ids(pages.flat()).filter((id) => id.startsWith("t"))).toEqual(ids(stored));
    expect(pages.every((page) => violations(page).length === 0)).toBe(true);
  });

  test("cover all that is readable once, and report what is not", async () => {
    const store = new InMemoryHistoryStore();
    const events: DiagnosticEvent[] = [];
    const conversation = open(store, { onCorrupt: "skip", onDiagnostic: (event) => events.push(event) });
    const damaged = new Set([0, 5, 6, 7, 8, 9, 10, 11, 23, 24]);
    for (let index = 0; index < 25; index += 1) {
      const id = `m${index}`;
      const data = damaged.has(index) ? "42" : JSON.stringify(user(id));
      await store.append(conversation.key, [{ id, data }]);
    }
    const readable = plain(25).filter((_, index) => !damaged.has(index));
    for (const last of [1, 2, 3, 5, 30]) {
      events.length = 0;
      expect((await allPages(conversation, last)).flat()).toEqual(readable);
      expect(new Set(events.map(({ position }) => position))).toEqual(
        new Set([...damaged].map((index) => `m${index}`)),
      );
      expect(events[0]).toMatchObject({ type: "corrupt_record_skipped", provider: "history", sessionId: "s" });
    }
    await expect(open(store).messages({ last: 5 })).rejects.toMatchObject({ code: "corrupt", position: "m23" });
    expect((await store.read(conversation.key)).records).toHaveLength(25);
  });

  test("of nothing but damage are empty, and nothing of it is lost", async () => {
    const store = new InMemoryHistoryStore();
    const conversation = open(store, { onCorrupt: "skip" });
    for (let index = 0; index < 9; index += 1) {
      await store.append(conversation.key, [{ id: `bad${index}`, data: "[]" }]);
    }
    expect((await allPages(conversation, 2)).flat()).toEqual([]);
    expect((await conversation.messages()).messages).toEqual([]);
    expect((await store.read(conversation.key)).records).toHaveLength(9);
  });
});

describe("truncating", () => {
  async function filled(count: number): Promise<{ store: RecordingStore; conversation: Conversation }> {
    const store = new RecordingStore();
    const conversation = open(store);
    await conversation.append(plain(count));
    return { store, conversation };
  }

  test.each([0, 1, 98, 99, 100, 101, 150, 199, 200, 248])("keeps everything up to message %i of 250", async (index) => {
    const { conversation } = await filled(250);
    await conversation.truncateAfter(`m${index}`);
    expect((await conversation.messages()).messages).toEqual(plain(index + 1));
  });

  test("behind the last message changes nothing and writes nothing", async () => {
    const { store, conversation } = await filled(5);
    const { version } = await conversation.messages();
    await conversation.truncateAfter("m4");
    expect(await conversation.messages()).toMatchObject({ version });
    expect(store.calls.some(({ name }) => name === "replace")).toBe(false);
  });

  test("behind an unknown message is not found and changes nothing", async () => {
    for (const count of [0, 5, 250]) {
      const { conversation } = await filled(count);
      for (const id of ["unknown", "", "M0", "m0 "]) {
        await expect(conversation.truncateAfter(id)).rejects.toMatchObject({ code: "not_found" });
      }
      expect((await conversation.messages()).messages).toEqual(plain(count));
    }
  });

  test("is a conflict when somebody appends meanwhile, and nothing is lost", async () => {
    const { store, conversation } = await filled(150);
    const read = store.read.bind(store);
    let isFirst = true;
    store.read = async (...given) => {
      const page = await read(...given);
      if (isFirst) {
        isFirst = false;
        await conversation.append(user("meanwhile"));
      }
      return page;
    };
    await expect(conversation.truncateAfter("m10")).rejects.toMatchObject({ code: "conflict" });
    expect((await conversation.messages()).messages).toEqual([...plain(150), user("meanwhile")]);
  });

  test("makes room for other messages", async () => {
    const { conversation } = await filled(5);
    await conversation.truncateAfter("m1");
    await conversation.append([user("edited"), assistant("again")]);
    expect(ids((await conversation.messages()).messages)).toEqual(["m0", "m1", "edited", "again"]);
  });

  test("is unsupported by a store that cannot replace, whether it says so or has no such method", async () => {
    const store = new InMemoryHistoryStore();
    const { replace: _, ...capabilities } = store.capabilities;
    const declared = Object.assign(new InMemoryHistoryStore(), { capabilities: { ...capabilities, replace: false } });
    const missing: HistoryStore = {
      contractVersion: 1,
      capabilities: store.capabilities,
      append: store.append.bind(store),
      read: store.read.bind(store),
      clear: store.clear.bind(store),
    };
    for (const unable of [declared, missing]) {
      await expect(open(unable).truncateAfter("m")).rejects.toMatchObject({ code: "unsupported" });
    }
  });
});

describe("clearing", () => {
  test("removes this conversation, twice if need be, and the same ids can be stored again", async () => {
    const store = new InMemoryHistoryStore();
    const conversation = open(store);
    const other = openConversation(store, { owner: "ann", sessionId: "s*" });
    await conversation.append(plain(3));
    await other.append(plain(3));
    await conversation.clear();
    await conversation.clear();
    expect(await conversation.messages()).toMatchObject({ messages: [], version: "" });
    expect((await other.messages()).messages).toEqual(plain(3));
    await conversation.append(plain(2));
    expect((await conversation.messages()).messages).toEqual(plain(2));
  });
});

describe("a codec", () => {
  /** Turns text around, bound to its place; asynchronous when asked to be. */
  function reversing(isAsync: boolean): MessageCodec {
    const turn = (text: string) => [...text].reverse().join("");
    return {
      encode: (message, { key, recordId }) => {
        const data = JSON.stringify({ place: [key.owner, key.session, recordId], text: turn(JSON.stringify(message)) });
        return isAsync ? Promise.resolve(data) : data;
      },
      decode: (data, { key, recordId }) => {
        const { place, text } = JSON.parse(data);
        if (JSON.stringify(place) !== JSON.stringify([key.owner, key.session, recordId])) {
          throw new Error("sealed for another place");
        }
        const message: Message = JSON.parse(turn(text));
        return isAsync ? Promise.resolve(message) : message;
      },
    };
  }

  test.each([false, true])(
    "makes and reads the records, and sees where they belong (asynchronous: %s)",
    async (isAsync) => {
      const store = new InMemoryHistoryStore();
      const conversation = open(store, { codec: reversing(isAsync) });
      await conversation.append(plain(5));
      expect((await conversation.messages()).messages).toEqual(plain(5));
      expect((await conversation.messages({ last: 2 })).messages).toEqual(plain(5).slice(3));
      const { records } = await store.read(conversation.key);
      expect(records[0]?.data).not.toContain('"m0"}');
      const stolen = openConversation(store, { owner: "eve", sessionId: "s", codec: reversing(isAsync) });
      await store.append(stolen.key, records);
      await expect(stolen.messages()).rejects.toMatchObject({ code: "corrupt", position: "m0" });
    },
  );

  test.each<[string, MessageCodec["decode"]]>([
    [
      "throws",
      () => {
        throw new TypeError("no");
      },
    ],
    ["rejects", () => Promise.reject(new TypeError("no"))],
    ["gives nothing", () => undefined as unknown as Message],
    ["gives nothing later", () => Promise.resolve(undefined as unknown as Message)],
    ["gives what is no message", () => 42 as unknown as Message],
    ["gives a message with another id", () => user("other")],
  ])("that %s makes the record corrupt, or skipped and reported", async (_, decode) => {
    const store = new InMemoryHistoryStore();
    const events: DiagnosticEvent[] = [];
    await open(store).append(plain(2));
    const codec: MessageCodec = { encode: () => "{}", decode };
    await expect(open(store, { codec }).messages()).rejects.toMatchObject({ code: "corrupt", position: "m0" });
    const skipping = open(store, { codec, onCorrupt: "skip", onDiagnostic: (event) => events.push(event) });
    expect((await skipping.messages()).messages).toEqual([]);
    expect(events.map(({ position }) => position)).toEqual(["m0", "m1"]);
    expect((await open(store).messages()).messages).toEqual(plain(2));
  });

  test("that could not do its work for now is no damage: its own error comes through", async () => {
    const store = new InMemoryHistoryStore();
    await open(store).append(plain(2));
    const failure = new AgentFrameworkError("unavailable", "the keys cannot be reached");
    const codec: MessageCodec = { encode: () => "{}", decode: () => Promise.reject(failure) };
    for (const onCorrupt of ["error", "skip"] as const) {
      await expect(open(store, { codec, onCorrupt }).messages()).rejects.toBe(failure);
    }
  });

  test("that cannot encode one message keeps all of them out", async () => {
    const store = new RecordingStore();
    const failure = new Error("no key");
    const codec: MessageCodec = {
      encode: (message) => {
        if (message.messageId === "m1") {
          throw failure;
        }
        return "{}";
      },
      decode: () => user("x"),
    };
    await expect(open(store, { codec }).append(plain(3))).rejects.toBe(failure);
    expect(store.appends).toBe(0);
  });

  test.each(["", "{", "{}\n{}", "\ud83d", 5])(
    "that encodes to %j is refused before anything is written",
    async (data) => {
      const store = new InMemoryHistoryStore();
      const codec: MessageCodec = { encode: () => data as string, decode: () => user("x") };
      const conversation = open(store, { codec });
      await expect(conversation.append(plain(1))).rejects.toMatchObject({ code: "configuration" });
      expect((await store.read(conversation.key)).records).toEqual([]);
    },
  );
});

describe("a record that is no message, or not the one that it is stored as", () => {
  test.each(["42", "[]", "null", '"text"', "{}", '{"role":"user","messageId":"m","contents":"x"}'])(
    "is corrupt, named and left alone: %s",
    async (data) => {
      const store = new InMemoryHistoryStore();
      const conversation = open(store);
      await store.append(conversation.key, [{ id: "m", data }]);
      for (const read of [
        () => conversation.messages(),
        () => conversation.messages({ last: 1 }),
        () => conversation.read(),
      ]) {
        await expect(read()).rejects.toMatchObject({ code: "corrupt", position: "m" });
      }
      expect((await store.read(conversation.key)).records).toEqual([{ id: "m", data }]);
    },
  );

  test("is corrupt when it was copied under another id", async () => {
    const store = new InMemoryHistoryStore();
    const conversation = open(store);
    await store.append(conversation.key, [{ id: "other", data: JSON.stringify(user("m")) }]);
    await expect(conversation.messages()).rejects.toMatchObject({ code: "corrupt", position: "other" });
  });
});

/** Changes all that can be reached. */
function spoil(value: unknown): void {
  if (value instanceof Uint8Array) {
    value.fill(9);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      spoil(member);
      Reflect.set(value, key, "spoiled");
    }
  }
}
