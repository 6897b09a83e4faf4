import { isAgentFrameworkError, type Tags } from "@agentfw/core";
import { expect, onTestFinished, test } from "vitest";
import { startEmulator } from "../src/emulator.ts";
import { FoundryStateStore, LocalStateStore, runWithCallId } from "../src/index.ts";
import { openEmulator } from "./support/emulator.ts";
import { temporaryFolder } from "./support/folder.ts";
import { failure } from "./support/scripted.ts";

/** Reads, adds one and writes under the etag, again and again until nobody came first. */
async function increment(store: FoundryStateStore): Promise<void> {
  for (;;) {
    const item = await store.getItem("counter");
    const count = Number(item?.value["count"] ?? 0) + 1;
    try {
      await (item === undefined
        ? store.createItem("counter", { count })
        : store.setItem("counter", { count }, { ifMatch: item.etag }));
      return;
    } catch (error) {
      if (!isAgentFrameworkError(error, "conflict")) {
        throw error;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
  }
}

test("20 callers that read, change and write one counter under its etag count 20, in the service", async () => {
  const { endpoint } = await openEmulator();
  const stores = await Promise.all(
    Array.from({ length: 20 }, () => FoundryStateStore.getOrCreate("counters", { endpoint, timeoutMs: 30_000 })),
  );
  await Promise.all(stores.map(increment));
  expect((await stores[0]!.getItem("counter"))?.value).toEqual({ count: 20 });
});

test("20 callers that read, change and write one counter under its etag count 20, in files", async () => {
  const directory = await temporaryFolder();
  const stores = await Promise.all(
    Array.from({ length: 20 }, () => LocalStateStore.getOrCreate("counters", { directory, timeoutMs: 30_000 })),
  );
  await Promise.all(stores.map(increment));
  expect((await stores[0]!.getItem("counter"))?.value).toEqual({ count: 20 });
});

const USERS = { "a-1": "ann", "a-2": "ann", "b-1": "bob", "b-2": "bob" };

/** One of many workers of a user. Both users' workers have the same keys; every answer must be the user's own. */
async function use(store: FoundryStateStore, user: string, calls: readonly string[], worker: number): Promise<void> {
  const isOwn = (keys: readonly { readonly tags: Tags }[]) => keys.every(({ tags }) => tags["user"] === user);
  for (let round = 0; round < 9; round += 1) {
    await runWithCallId(calls[round % calls.length], async () => {
      const [key, tags] = [`key-${worker}-${round % 3}`, { user }];
      const { etag } = await store.setItem(key, { user, round }, { tags });
      const taken = await failure(store.create(key, "{}", { tags }));
      expect(taken).toMatchObject({ code: "conflict", currentVersion: etag });
      const [item, state, page, keys] = await Promise.all([
        store.getItem(key),
        store.get(key),
        store.listItemKeys({ limit: 100 }),
        store.listKeys(),
      ]);
      expect(item).toMatchObject({ etag, value: { user, round } });
      expect(JSON.parse(state?.text ?? "")).toEqual({ user, round });
      expect([isOwn(page.keys), isOwn(keys.keys)]).toEqual([true, true]);
      const next = await store.set(key, JSON.stringify({ user, again: round }), { tags, ifMatch: etag });
      const stale = await failure(store.setItem(key, { user }, { tags, ifMatch: etag }));
      expect(stale).toMatchObject({ code: "conflict", currentVersion: next.etag });
      if (round % 4 === 0) {
        expect(await store.deleteItem(key, { ifMatch: next.etag })).toEqual({ existed: true });
        expect(await store.getItem(key)).toBeUndefined();
        expect(await store.delete(key)).toBe(false);
        await store.createItem(key, { user, round }, { tags });
      }
      for await (const found of store.iterateItemKeys({ pageSize: 10 })) {
        expect(found.tags["user"]).toBe(user);
      }
    });
  }
}

test("two users under one store with the same keys never see each other, in any operation, under load", async () => {
  const emulator = await startEmulator({ users: USERS });
  onTestFinished(() => emulator.close());
  const options = { endpoint: emulator.endpoint, userIsolation: true, timeoutMs: 60_000 };
  const store = await FoundryStateStore.getOrCreate("shared", options);
  await Promise.all(
    Array.from({ length: 8 }, (_, index) =>
      index % 2 ? use(store, "ann", ["a-1", "a-2"], index >> 1) : use(store, "bob", ["b-1", "b-2"], index >> 1),
    ),
  );
  const keysOf = async (callId: string) => {
    const keys = [];
    for await (const { key, tags } of store.iterateItemKeys({ callId, pageSize: 7 })) {
      keys.push(`${key} ${tags["user"]}`);
    }
    return keys.sort();
  };
  const wanted = (user: string) =>
    Array.from({ length: 12 }, (_, index) => `key-${index % 4}-${index >> 2} ${user}`).sort();
  expect(await keysOf("a-2")).toEqual(wanted("ann"));
  expect(await keysOf("b-2")).toEqual(wanted("bob"));
});
