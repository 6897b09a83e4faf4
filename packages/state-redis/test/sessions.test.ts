import { AgentSession, SessionStore } from "@agentfw/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { RedisStateStore } from "../src/index.ts";
import { codeOf, keysBelow, openStore, pause, rejection } from "./support/redis.ts";
import { freshPrefix, openCluster } from "./support/stores.ts";

const ALICE = { owner: "alice" };

function newSession(
  sessionId: string,
  owner: string | null = "alice",
  state: Record<string, unknown> = {},
): AgentSession {
  return new AgentSession({ sessionId, owner, state });
}

describe.each(["node", "cluster"] as const)("whole sessions (%s)", (kind) => {
  function open(options: { readonly ttlSeconds?: number } = {}) {
    if (kind === "node") {
      const { store } = openStore(options);
      return { store, sessions: new SessionStore(store) };
    }
    const client = openCluster();
    onTestFinished(() => client.disconnect());
    const store = new RedisStateStore({ client }, { ...options, keyPrefix: freshPrefix() });
    return { store, sessions: new SessionStore(store) };
  }

  test("come back as they were saved, in another process's store too", async () => {
    const { store, sessions } = open();
    const state = { todo: ["a", { b: null }], count: 3, text: "😀\u0000", ["__proto__x"]: true };
    await sessions.save(newSession("chat/1", "alice", state));
    const loaded = await new SessionStore(store).load("chat/1", ALICE);
    expect(loaded?.state).toEqual(state);
    expect(loaded?.owner).toBe("alice");
    expect(JSON.stringify(loaded)).not.toContain("alice");
  });

  test("of another owner read as absent, and cannot be saved, updated, listed or deleted", async () => {
    const { sessions } = open();
    await sessions.save(newSession("s", "alice", { mine: 1 }));
    for (const owner of ["bob", "", null, "Alice", "alice "]) {
      expect(await sessions.load("s", { owner })).toBeUndefined();
      expect(await codeOf(sessions.update("s", { owner }, () => undefined))).toBe("not_found");
      expect(await sessions.delete("s", { owner })).toBe(false);
      expect((await sessions.list({ owner })).sessionIds).toEqual([]);
      await sessions.save(newSession("s", owner, { theirs: owner }));
      expect((await sessions.load("s", { owner }))?.state).toEqual({ theirs: owner });
    }
    expect((await sessions.load("s", ALICE))?.state).toEqual({ mine: 1 });
  });

  test("that two load at once are saved by one; the other has a conflict with the etag that is there", async () => {
    const { store, sessions } = open();
    await sessions.save(newSession("s"));
    const [first, second] = [await sessions.load("s", ALICE), await sessions.load("s", ALICE)];
    if (first === undefined || second === undefined) {
      throw new Error("the session is missing");
    }
    await sessions.save(first);
    const [key] = (await store.listKeys(ALICE)).keys;
    expect(await rejection(sessions.save(second))).toMatchObject({ code: "conflict", currentVersion: key?.etag });
    expect(await codeOf(sessions.save(newSession("s")))).toBe("conflict");
    await sessions.save(second, { overwrite: true });
  });

  test("that many update at once hold every update", async () => {
    const { store } = open();
    await new SessionStore(store).save(newSession("s", "alice", { count: 0 }));
    const update = () =>
      new SessionStore(store).update("s", { ...ALICE, attempts: 1_000 }, ({ state }) => {
        state["count"] = Number(state["count"]) + 1;
      });
    await Promise.all(Array.from({ length: 40 }, update));
    expect((await new SessionStore(store).load("s", ALICE))?.state).toEqual({ count: 40 });
  });

  test("are listed in pages, oldest first, each once, whatever their ids hold", async () => {
    const { store, sessions } = open();
    const ids = Array.from({ length: 25 }, (_, index) => `chat:${index}/{x}*?😀`);
    for (const id of ids) {
      await sessions.save(newSession(id));
      await sessions.save(newSession(id, "bob"));
    }
    await store.set("not a session", "{}", ALICE);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await sessions.list({ ...ALICE, limit: 10, cursor });
      seen.push(...page.sessionIds);
      cursor = page.cursor;
      await sessions.update(ids[0] ?? "", ALICE, () => undefined);
    } while (cursor !== undefined);
    expect(seen).toEqual(ids);
  });

  test("expire when nobody saves them, and are saved anew then", async () => {
    const { sessions } = open({ ttlSeconds: 0.3 });
    await sessions.save(newSession("s"));
    const loaded = await sessions.load("s", ALICE);
    await pause(600);
    expect(await sessions.load("s", ALICE)).toBeUndefined();
    expect((await sessions.list(ALICE)).sessionIds).toEqual([]);
    expect(await codeOf(sessions.save(loaded ?? newSession("x")))).toBe("conflict");
    await sessions.save(newSession("s"));
    expect(await sessions.load("s", ALICE)).toBeDefined();
  });
});

describe("one user's data", () => {
  test("is found and deleted by the owner's keys alone", async () => {
    const { store, client, keyPrefix } = openStore();
    const sessions = new SessionStore(store);
    for (const owner of ["alice", "bob"]) {
      await sessions.save(newSession("s", owner));
      await store.set("note", "{}", { owner, tags: { kind: "x" } });
    }
    for (let page = await store.listKeys(ALICE); page.keys.length > 0; page = await store.listKeys(ALICE)) {
      await Promise.all(page.keys.map(({ key }) => store.delete(key, ALICE)));
    }
    const left = await keysBelow(client, keyPrefix);
    expect(left).toHaveLength(5);
    expect(left.filter((key) => !key.includes("{owner:bob}"))).toEqual([]);
  });
});
