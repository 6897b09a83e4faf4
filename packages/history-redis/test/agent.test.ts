import { Agent } from "@agentfw/agent";
import { type ChatClient, HistoryProvider, type Message, messageText, openConversation } from "@agentfw/core";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openFaulty, withLostAnswer } from "./support/faults.ts";
import { conversation, openStore, recordsOf } from "./support/redis.ts";

const owner = "alice";
const KEY = { owner, source: "history", session: "s" };

/** Answers at once, and notes what it was given. */
function recording(): ChatClient & { readonly seen: string[][] } {
  const seen: string[][] = [];
  return {
    contractVersion: 1,
    storesByDefault: false,
    seen,
    async *stream(messages: readonly Message[]) {
      seen.push(messages.map((message) => `${message.role} ${messageText(message)}`.trim()));
      yield { contents: [{ type: "text", text: `answer ${seen.length}` }], finishReason: "stop" };
    },
  };
}

const CALL = { type: "function_call", callId: "c", name: "find", arguments: "{}" } as const;
const RESULT = { type: "function_result", callId: "c", result: "found" } as const;

describe("a model", () => {
  test("is not shown the result whose call maxRecords removed, which stays stored as it is", async () => {
    const { store } = openStore({ maxRecords: 3 });
    const talk = openConversation(store, { owner, sessionId: "s" });
    await talk.append([
      { role: "assistant", contents: [CALL] },
      { role: "tool", contents: [RESULT] },
    ]);
    await talk.append([
      { role: "user", contents: "u2" },
      { role: "assistant", contents: "a2" },
    ]);
    expect((await talk.messages()).messages.map(({ role }) => role)).toEqual(["tool", "user", "assistant"]);
    const client = recording();
    const agent = new Agent({ client, contextProviders: [new HistoryProvider(store)] });
    await agent.run("u3", { session: agent.createSession({ owner, sessionId: "s" }) });
    expect(client.seen).toEqual([["user u2", "assistant a2", "user u3"]]);
  });

  test("is not shown a result without its call at the beginning of what was stored by others", async () => {
    const { store } = openStore();
    await openConversation(store, { owner, sessionId: "s" }).append([
      { role: "tool", contents: [RESULT] },
      { role: "user", contents: "u1" },
      { role: "assistant", contents: "a1" },
    ]);
    const before = await store.read(KEY);
    const client = recording();
    const agent = new Agent({ client, contextProviders: [new HistoryProvider(store)] });
    await agent.run("u2", { session: agent.createSession({ owner, sessionId: "s" }) });
    expect(client.seen).toEqual([["user u1", "assistant a1", "user u2"]]);
    expect((await store.read(KEY)).records.slice(0, 3)).toEqual(before.records);
  });
});

describe("a run", () => {
  test("whose answer from the server is lost while others write has no conflict with itself", async () => {
    const faulty = await openFaulty("url");
    const agent = new Agent({ client: recording(), contextProviders: [new HistoryProvider(faulty.store)] });
    const session = agent.createSession({ owner, sessionId: "s" });
    await agent.run("u1", { session });
    const count = async () => (await faulty.direct.read(KEY)).records.length;
    const theirs = recordsOf("theirs").map(({ id }) => ({ id, data: '{"role":"user","contents":[]}' }));
    const run = () => agent.run("u2", { session });
    const result = await withLostAnswer(
      faulty,
      run,
      async () => (await count()) === 4,
      () => faulty.direct.append(KEY, theirs),
    );
    expect(result.text).toBe("answer 2");
    expect(await count()).toBe(5);
  });
});

test("a clock that is set back changes neither the order of records nor makes versions equal", async () => {
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const { store, client, keysOf } = openStore({ ttlSeconds: 3_600 });
  const key = conversation("clock");
  const [ids, versions] = [[] as string[], new Set<string>()];
  for (const [turn, date] of ["2030-01-01", "2020-01-01", "2030-01-01", "2001-01-01", "2001-01-01"].entries()) {
    vi.setSystemTime(new Date(date));
    const { version } = await store.append(key, recordsOf(`${turn}/a`, `${turn}/b`));
    ids.push(`${turn}/a`, `${turn}/b`);
    versions.add(version);
    const page = await store.read(key);
    expect([page.records.map(({ id }) => id), page.version]).toEqual([ids, version]);
  }
  expect(versions.size).toBe(5);
  const { records, ids: remembered } = keysOf(key);
  expect(await client.pttl(remembered)).toBeGreaterThan(await client.pttl(records));
  expect(await store.append(key, recordsOf(...ids))).toMatchObject({ appended: 0 });
});
