import { AgentSession, SessionStore } from "@agentfw/core";
import { testStateStore } from "@agentfw/provider-testing/vitest";
import { expect, test } from "vitest";
import { PostgresStateStore } from "../src/index.ts";
import { openOnPglite, pglite } from "./support/open.ts";
import { freshSchema, rejection } from "./support/postgres.ts";

testStateStore({ name: "state-postgres embedded on PGlite", open: openOnPglite });

test("whole sessions are saved, changed by many at once, listed and kept apart by owner", async () => {
  const store = new PostgresStateStore({ client: await pglite() }, { schema: freshSchema() });
  const sessions = new SessionStore(store);
  const alice = { owner: "alice", attempts: 1_000 };
  for (const owner of ["alice", "bob"]) {
    await sessions.save(new AgentSession({ sessionId: "chat/1", owner, state: { count: 0, text: "😀\u0000\ud83d" } }));
  }
  const update = () =>
    new SessionStore(store).update("chat/1", alice, ({ state }) => {
      state["count"] = Number(state["count"]) + 1;
    });
  await Promise.all(Array.from({ length: 8 }, update));
  expect((await sessions.load("chat/1", alice))?.state).toEqual({ count: 8, text: "😀\u0000\ud83d" });
  expect((await sessions.load("chat/1", { owner: "bob" }))?.state["count"]).toBe(0);
  expect((await sessions.list(alice)).sessionIds).toEqual(["chat/1"]);
  expect(await sessions.load("chat/1", { owner: null })).toBeUndefined();
});

test("a PGlite database that its owner closed is told, and not taken for an empty one", async () => {
  const client = await pglite();
  const store = new PostgresStateStore({ client }, { schema: freshSchema(), ttlSeconds: 60 });
  await store.create("a", '{"a":1}', { owner: "alice", tags: { kind: "x", phase: "y" } });
  await store.verifySchema();
  expect(await store.deleteExpired()).toEqual({ items: 0 });
  expect(await store.erase({ owner: "alice" })).toEqual({ items: 1 });
  await client.close();
  expect(await rejection(store.get("a"))).toMatchObject({ code: "configuration" });
  expect(await rejection(store.set("a", "{}"))).toMatchObject({ code: "configuration" });
});
