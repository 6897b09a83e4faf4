import { testStateStore } from "@agentfw/provider-testing/vitest";
import { expect, test } from "vitest";
import { PostgresStateStore } from "../src/index.ts";
import { openOnPglite, pglite } from "./support/open.ts";
import { freshSchema, rejection } from "./support/postgres.ts";

testStateStore({ name: "state-postgres embedded on PGlite", open: openOnPglite });

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
