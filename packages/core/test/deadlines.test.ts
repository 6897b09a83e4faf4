import { describe, expect, test } from "vitest";
import {
  AgentSession,
  HistoryProvider,
  InMemoryHistoryStore,
  InMemoryStateStore,
  jsonMessageCodec,
  openConversation,
  SessionStore,
  type StateStore,
} from "../src/index.ts";

const never = (): Promise<never> => new Promise(() => {});

describe("a codec that never settles ends the call with timeout:", () => {
  const place = { owner: null, sessionId: "s", timeoutMs: 30 };

  test("encode, and nothing is stored", async () => {
    const store = new InMemoryHistoryStore();
    const conversation = openConversation(store, { ...place, codec: { ...jsonMessageCodec, encode: never } });
    await expect(conversation.append("hello")).rejects.toMatchObject({ code: "timeout" });
    expect((await openConversation(store, place).messages()).messages).toEqual([]);
  });

  test("decode", async () => {
    const store = new InMemoryHistoryStore();
    await openConversation(store, place).append("hello");
    const conversation = openConversation(store, { ...place, codec: { ...jsonMessageCodec, decode: never } });
    await expect(conversation.messages()).rejects.toMatchObject({ code: "timeout" });
  });
});

describe("a state store that never answers ends each call of a session store:", () => {
  const store: StateStore = {
    contractVersion: 1,
    capabilities: new InMemoryStateStore().capabilities,
    create: never,
    set: never,
    get: never,
    delete: never,
    listKeys: never,
  };
  const sessions = new SessionStore(store, { timeoutMs: 30 });
  const scope = { owner: "ada" };

  test.each([
    ["load", () => sessions.load("s", scope), "timeout"],
    ["list", () => sessions.list(scope), "timeout"],
    ["update", () => sessions.update("s", scope, () => undefined), "timeout"],
    ["save", () => sessions.save(new AgentSession({ sessionId: "s", owner: "ada" })), "outcome_unknown"],
    ["delete", () => sessions.delete("s", scope), "outcome_unknown"],
  ])("%s", async (_, call, code) => {
    await expect(call()).rejects.toMatchObject({ code, provider: "session-store" });
  });

  test("and a time that is none is refused", () => {
    expect(() => new SessionStore(store, { timeoutMs: 0 })).toThrow(expect.objectContaining({ code: "configuration" }));
  });
});

describe("what is no session is refused by name:", () => {
  const provider = new HistoryProvider(new InMemoryHistoryStore());
  const sessions = new SessionStore(new InMemoryStateStore());

  test.each([null, undefined, 7, {}, { sessionId: "s", owner: "ada" }])("%j", async (value) => {
    const refusal = { code: "configuration", message: expect.stringMatching(/^session: /) };
    await expect(provider.getMessages(value as never)).rejects.toMatchObject(refusal);
    await expect(sessions.save(value as never, { overwrite: true })).rejects.toMatchObject(refusal);
    expect(() => provider.conversation(value as never)).toThrow(expect.objectContaining(refusal));
    expect((await sessions.list({ owner: "ada" })).sessionIds).toEqual([]);
  });
});
