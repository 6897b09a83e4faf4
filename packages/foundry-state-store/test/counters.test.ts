import { isAgentFrameworkError } from "@agentfw/core";
import { expect, onTestFinished, test } from "vitest";
import { startEmulator } from "../src/emulator.ts";
import { FoundryStateStore, LocalStateStore, runWithCallId } from "../src/index.ts";
import { openEmulator } from "./support/emulator.ts";
import { temporaryFolder } from "./support/folder.ts";

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

/** What one user does with keys that the other uses too; every answer must be the user's own. */
async function use(store: FoundryStateStore, user: string, calls: readonly string[]): Promise<void> {
  for (let round = 0; round < 30; round += 1) {
    await runWithCallId(calls[round % calls.length], async () => {
      const key = `key-${round % 5}`;
      const { etag } = await store.setItem(key, { user, round }, { tags: { user } });
      const [item, page, port] = await Promise.all([
        store.getItem(key),
        store.listItemKeys({ limit: 100 }),
        store.get(key),
      ]);
      expect(item?.value).toEqual({ user, round });
      expect(JSON.parse(port?.text ?? "")).toEqual({ user, round });
      expect(page.keys.map(({ tags }) => tags["user"])).toEqual(page.keys.map(() => user));
      expect(page.keys.length).toBeLessThanOrEqual(5);
      if (round % 7 === 0) {
        expect(await store.deleteItem(key, { ifMatch: etag })).toEqual({ existed: true });
        expect(await store.getItem(key)).toBeUndefined();
        await store.createItem(key, { user, round }, { tags: { user } });
      }
    });
  }
}

test("two users under one store with the same keys never see each other, in any operation, under load", async () => {
  const users = { "a-1": "ann", "a-2": "ann", "b-1": "bob", "b-2": "bob" };
  const emulator = await startEmulator({ users });
  onTestFinished(() => emulator.close());
  const options = { endpoint: emulator.endpoint, userIsolation: true, timeoutMs: 30_000 };
  const store = await FoundryStateStore.getOrCreate("shared", options);
  await Promise.all([use(store, "ann", ["a-1", "a-2"]), use(store, "bob", ["b-1", "b-2"])]);
  const keysOf = async (callId: string) => {
    const keys = [];
    for await (const { key, tags } of store.iterateItemKeys({ callId, pageSize: 2 })) {
      keys.push(`${key} ${tags["user"]}`);
    }
    return keys.sort();
  };
  expect(await keysOf("a-2")).toEqual([0, 1, 2, 3, 4].map((number) => `key-${number} ann`));
  expect(await keysOf("b-2")).toEqual([0, 1, 2, 3, 4].map((number) => `key-${number} bob`));
});
