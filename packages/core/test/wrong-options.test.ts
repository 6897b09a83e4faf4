import { describe, expect, test } from "vitest";
import {
  AgentSession,
  HistoryProvider,
  InMemoryFileStore,
  InMemoryHistoryProvider,
  InMemoryHistoryStore,
  InMemoryStateStore,
  openConversation,
  ProviderSessionState,
  SessionStore,
} from "../src/index.ts";

const KEY = { owner: null, source: "history", session: "s" };
const RECORD = { id: "1", data: "1" };

/** What plain JavaScript may pass where options belong; typed as anything that a call takes. */
const WRONG_OPTIONS: readonly (readonly [name: string, value: never])[] = [
  ["null", null as never],
  ["a number", 5 as never],
  ["a string", "options" as never],
  ["an array", [] as never],
];

const session = new AgentSession({ sessionId: "s", owner: null });
const history = new InMemoryHistoryStore();
const state = new InMemoryStateStore();
const files = new InMemoryFileStore();
const sessions = new SessionStore(state);
const conversation = openConversation(history, { owner: null, sessionId: "s" });

/** Every public call of core that takes options. */
const CALLS: Readonly<Record<string, (options: never) => unknown>> = {
  "new AgentSession": (options) => new AgentSession(options),
  "AgentSession.fromJSON": (options) => AgentSession.fromJSON(session.toJSON(), options),
  "new ProviderSessionState": (options) => new ProviderSessionState(options),
  "new HistoryProvider": (options) => new HistoryProvider(history, options),
  "HistoryProvider.getMessages": (options) => new HistoryProvider(history).getMessages(session, options),
  "new InMemoryHistoryProvider": (options) => new InMemoryHistoryProvider(options),
  "new InMemoryHistoryStore": (options) => new InMemoryHistoryStore(options),
  "new InMemoryStateStore": (options) => new InMemoryStateStore(options),
  openConversation: (options) => openConversation(history, options),
  "Conversation.messages": (options) => conversation.messages(options),
  "Conversation.append": (options) => conversation.append("hello", options),
  "Conversation.truncateAfter": (options) => conversation.truncateAfter("1", options),
  "Conversation.clear": (options) => conversation.clear(options),
  "SessionStore.save": (options) => sessions.save(session, options),
  "SessionStore.load": (scope) => sessions.load("s", scope),
  "SessionStore.update": (scope) => sessions.update("s", scope, () => undefined),
  "SessionStore.delete": (scope) => sessions.delete("s", scope),
  "SessionStore.list": (scope) => sessions.list(scope),
  "HistoryStore.append": (options) => history.append(KEY, [RECORD], options),
  "HistoryStore.read": (options) => history.read(KEY, options),
  "HistoryStore.clear": (options) => history.clear(KEY, options),
  "HistoryStore.replace": (options) => history.replace(KEY, { fromId: "1", throughId: "1" }, [], options),
  "HistoryStore.list": (options) => history.list({ owner: null }, options),
  "StateStore.create": (options) => state.create("k", "{}", options),
  "StateStore.set": (options) => state.set("k", "{}", options),
  "StateStore.get": (options) => state.get("k", options),
  "StateStore.delete": (options) => state.delete("k", options),
  "StateStore.listKeys": (options) => state.listKeys(options),
  "FileStore.read": (options) => files.read("a.md", options),
  "FileStore.write": (options) => files.write("a.md", "text", options),
  "FileStore.delete": (options) => files.delete("a.md", options),
  "FileStore.exists": (options) => files.exists("a.md", options),
  "FileStore.list": (options) => files.list("", options),
  "FileStore.search": (options) => files.search("a", options),
};

/** What a call throws or rejects with. */
async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return undefined;
}

async function expectConfiguration(call: () => unknown): Promise<void> {
  expect(await failureOf(call)).toMatchObject({ name: "AgentFrameworkError", code: "configuration" });
}

describe.each(Object.entries(CALLS))("%s refuses options that are no object:", (_, call) => {
  test.each(WRONG_OPTIONS)("%s", async (_name, options) => {
    await expectConfiguration(() => call(options));
  });
});

describe("nothing is written by a call with wrong options", () => {
  test("to a conversation, a state store or a file store", async () => {
    expect((await history.read(KEY)).records).toEqual([]);
    expect((await state.listKeys()).keys).toEqual([]);
    expect(await files.list("")).toEqual([]);
  });
});

describe("a signal that is none is refused by name:", () => {
  const WITH_SIGNAL = Object.entries(CALLS).filter(
    ([name]) => !name.startsWith("new ") && !/fromJSON|openConversation|SessionStore/.test(name),
  );
  test.each(WITH_SIGNAL)("%s", async (_, call) => {
    const error = await failureOf(() => call({ signal: 5 } as never));
    expect(error).toMatchObject({ code: "configuration", message: expect.stringMatching(/^signal: /) });
  });
});

describe("a history provider refuses an option of another type by name:", () => {
  test.each(["load", "keepFirst", "storeInputs", "storeOutputs", "keepPartial", "conditionalAppend", "storeFilter"])(
    "%s",
    async (name) => {
      const error = await failureOf(() => new HistoryProvider(history, { [name]: "no" }));
      expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining(`${name}: `) });
    },
  );

  test.each([
    ["reducer", {}],
    ["storeContext", "memory"],
    ["onDiagnostic", "log"],
    ["codec", null],
    ["codec", {}],
    ["maxMessages", "20"],
    ["timeoutMs", "10"],
    ["onCorrupt", true],
    ["sourceId", 7],
  ])("%s %j", async (name, value) => {
    const error = await failureOf(() => new HistoryProvider(history, { [name]: value } as never));
    expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining(`${name}: `) });
  });
});

describe("a store refuses by name", () => {
  test.each([null, undefined, 5, "key", []])("a key that is %j", async (key) => {
    const error = await failureOf(() => history.append(key as never, [RECORD]));
    expect(error).toMatchObject({ code: "configuration", message: expect.stringMatching(/^key/) });
  });

  test.each([null, undefined, 5, "record", []])("a record that is %j", async (record) => {
    const error = await failureOf(() => history.append(KEY, [record as never]));
    expect(error).toMatchObject({ code: "configuration", message: expect.stringMatching(/^records\[0\]/) });
  });

  test.each([null, undefined, 5])("a range that is %j", async (range) => {
    const error = await failureOf(() => history.replace(KEY, range as never, []));
    expect(error).toMatchObject({ code: "configuration", message: expect.stringMatching(/^range/) });
  });

  test.each([null, undefined, 5])("a session to save that is %j", async (value) => {
    const error = await failureOf(() => sessions.save(value as never));
    expect(error).toMatchObject({ code: "configuration", message: expect.stringMatching(/^session/) });
  });
});
