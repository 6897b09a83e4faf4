import { AgentSession, SessionStore } from "@agentfw/core";
import { describe, expect, inject, test } from "vitest";
import { age, freshSchema, openStore, rejection, rowsIn } from "./support/postgres.ts";

const ALICE = { owner: "alice" };

function newSession(
  sessionId: string,
  owner: string | null = "alice",
  state: Record<string, unknown> = {},
): AgentSession {
  return new AgentSession({ sessionId, owner, state });
}

describe.each(["server", "pooler"] as const)("whole sessions (%s)", (kind) => {
  function open() {
    const connectionString = inject(kind === "server" ? "postgresUrl" : "pgBouncerUrl");
    const store = openStore({ connectionString, prepare: kind === "server" });
    return { store, sessions: new SessionStore(store) };
  }

  test("come back as they were saved, in another process's store too", async () => {
    const { store, sessions } = open();
    const state = { todo: ["a", { b: null }], count: 3, text: "😀\u0000\ud83d", ["__proto__x"]: true };
    await sessions.save(newSession("chat/1", "alice", state));
    const loaded = await new SessionStore(store).load("chat/1", ALICE);
    expect(loaded?.state).toEqual(state);
    expect(loaded?.owner).toBe("alice");
  });

  test("of another owner read as absent, and cannot be saved, updated, listed or deleted", async () => {
    const { sessions } = open();
    await sessions.save(newSession("s", "alice", { mine: 1 }));
    for (const owner of ["bob", "", null, "Alice", "alice "]) {
      expect(await sessions.load("s", { owner })).toBeUndefined();
      const update = sessions.update("s", { owner }, () => undefined);
      expect(await rejection(update)).toMatchObject({ code: "not_found" });
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
    await sessions.save(first!);
    const [key] = (await store.listKeys(ALICE)).keys;
    expect(await rejection(sessions.save(second!))).toMatchObject({ code: "conflict", currentVersion: key?.etag });
    expect(await rejection(sessions.save(newSession("s")))).toMatchObject({ code: "conflict" });
    await sessions.save(second!, { overwrite: true });
  });

  test("that many update at once hold every update", async () => {
    const { store } = open();
    await new SessionStore(store).save(newSession("s", "alice", { count: 0 }));
    const update = () =>
      new SessionStore(store).update("s", { ...ALICE, attempts: 1_000 }, ({ state }) => {
        state["count"] = Number(state["count"]) + 1;
      });
    await Promise.all(Array.from({ length: 16 }, update));
    expect((await new SessionStore(store).load("s", ALICE))?.state).toEqual({ count: 16 });
  });

  test("are listed in pages, oldest first, each once, whatever their ids hold", async () => {
    const { store, sessions } = open();
    const ids = Array.from({ length: 25 }, (_, index) => `chat:${index}/{x}*?%_\\😀\u0000`);
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
});

test("sessions expire when nobody saves them, and are saved anew then", async () => {
  const schema = freshSchema();
  const sessions = new SessionStore(openStore({ schema, ttlSeconds: 3600 }));
  await sessions.save(newSession("s"));
  const loaded = await sessions.load("s", ALICE);
  await age(schema, "%");
  expect(await sessions.load("s", ALICE)).toBeUndefined();
  expect((await sessions.list(ALICE)).sessionIds).toEqual([]);
  expect(await rejection(sessions.save(loaded!))).toMatchObject({ code: "conflict" });
  await sessions.save(newSession("s"));
  expect((await sessions.list(ALICE)).sessionIds).toEqual(["s"]);
  expect(await rowsIn(schema)).toEqual({ items: 1, tags: 1 });
});

test("one user's sessions and notes are erased together, and nobody else's", async () => {
  const schema = freshSchema();
  const store = openStore({ schema });
  const sessions = new SessionStore(store);
  for (const owner of ["alice", "bob"]) {
    await sessions.save(newSession("s", owner));
    await store.set("note", "{}", { owner, tags: { kind: "x" } });
  }
  expect(await store.erase(ALICE)).toEqual({ items: 2 });
  expect(await rowsIn(schema)).toEqual({ items: 2, tags: 2 });
  expect(await sessions.load("s", { owner: "bob" })).toBeDefined();
});
