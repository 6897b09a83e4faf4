import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { expect, test } from "vitest";
import { PostgresHistoryStore } from "../src/index.ts";
import { conversation, records, rejection } from "./support/conversation.ts";
import { openOnPglite, pglite } from "./support/open.ts";
import { freshSchema } from "./support/postgres.ts";

testHistoryStore({
  name: "history-postgres embedded on PGlite",
  open: openOnPglite,
  cannot: { loseNextReply: "the database runs in the process: there is no connection on which a reply could be lost" },
});

test("a PGlite database that its owner closed is told, and not taken for an empty one", async () => {
  const client = await pglite();
  const store = new PostgresHistoryStore({ client }, { schema: freshSchema(), ttlSeconds: 60 });
  await store.append(conversation(), records("a", 3));
  await store.verifySchema();
  expect(await store.deleteExpired()).toEqual({ conversations: 0, records: 0 });
  await client.close();
  expect(await rejection(store.read(conversation()))).toMatchObject({ code: "configuration" });
  expect(await rejection(store.append(conversation(), records("b", 1)))).toMatchObject({ code: "configuration" });
});
