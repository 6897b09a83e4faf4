import type { HistoryStore } from "@agentfw/core";
import { expect, test } from "vitest";
import { conversation, idsOf, records } from "./support/conversation.ts";
import { openProxied } from "./support/storage.ts";

/** Appends so many turns of two records, without one request for each. */
async function fill(store: HistoryStore, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 500) {
    const count = Math.min(500, turns - turn);
    await store.append(conversation(), records(`fill-${turn}`, count * 2));
  }
}

const kinds = ({ requests }: { requests: readonly { kind: string }[] }) => requests.map(({ kind }) => kind);

test.each([[10], [5_000]])(
  "an append is one request, and a load of the newest 20 at most two, after %i turns",
  async (turns) => {
    const { proxy, store, open } = await openProxied();
    await fill(store, turns);
    for (let turn = 0; turn < 12; turn += 1) {
      proxy.reset();
      await store.append(conversation(), records(`turn-${turn}`, 2));
      expect(kinds(proxy)).toEqual(["append"]);
    }
    proxy.reset();
    const { records: loaded } = await store.read(conversation(), { last: 20 });
    expect(kinds(proxy)).toEqual(["read"]);

    const other = open();
    proxy.reset();
    expect(await other.read(conversation(), { last: 20 })).toMatchObject({ records: loaded });
    expect(kinds(proxy)).toEqual(["list", "read"]);
    proxy.reset();
    await other.read(conversation(), { last: 20 });
    expect(kinds(proxy)).toEqual(["read"]);
    expect(idsOf(loaded).slice(-2)).toEqual(["turn-11-0", "turn-11-1"]);
  },
);

test("what is downloaded for the newest 20 does not grow with the conversation", async () => {
  const { proxy, store, open } = await openProxied();
  const sizes: number[] = [];
  for (const turns of [100, 5_000]) {
    await fill(store, turns);
    for (let turn = 0; turn < 10; turn += 1) {
      await store.append(conversation(), records(`turn-${turns}-${turn}`, 2));
    }
    for (const one of [store, open()]) {
      proxy.reset();
      await one.read(conversation(), { last: 20 });
      sizes.push(proxy.requests.at(-1)?.answeredBytes ?? 0);
    }
  }
  expect(sizes).toHaveLength(4);
  expect(Math.min(...sizes)).toBeGreaterThan(500);
  expect(Math.max(...sizes)).toBeLessThan(50_000);
});

test("a load across two segments is three requests, and two where the store knows the end", async () => {
  const { proxy, store, open } = await openProxied({ segmentBlocks: 10 });
  for (let turn = 0; turn < 12; turn += 1) {
    await store.append(conversation(), records(`turn-${turn}`, 2));
  }
  proxy.reset();
  const { records: loaded } = await open().read(conversation(), { last: 20 });
  expect(kinds(proxy)).toEqual(["list", "read", "read"]);
  expect(loaded).toHaveLength(20);
  proxy.reset();
  await store.read(conversation(), { last: 20 });
  expect(kinds(proxy)).toEqual(["read", "read"]);
});

test("the number of segments adds nothing to a load, nor to an append", async () => {
  const { proxy, store, open } = await openProxied({ segmentBlocks: 3 });
  for (let turn = 0; turn < 41; turn += 1) {
    await store.append(conversation(), records(`turn-${turn}`, 20));
  }
  const other = open();
  proxy.reset();
  await other.read(conversation(), { last: 20 });
  expect(kinds(proxy)).toEqual(["list", "read"]);
  proxy.reset();
  await store.append(conversation(), records("next", 1));
  expect(kinds(proxy)).toEqual(["append"]);
  proxy.reset();
  await store.append(conversation(), records("rolls", 1));
  expect(kinds(proxy)).toEqual(["append", "create", "list", "append"]);
});

test("a turn of a run, which loads before it appends, is three requests in a new process and two after that", async () => {
  const { proxy, store, open } = await openProxied();
  await store.append(conversation(), records("a", 2));
  const other = open();
  proxy.reset();
  for (let turn = 0; turn < 3; turn += 1) {
    await other.read(conversation(), { last: 20 });
    await other.append(conversation(), records(`turn-${turn}`, 2));
  }
  expect(kinds(proxy)).toEqual(["list", "read", "append", "read", "append", "read", "append"]);
});

test("a repeated append, a conflict, a clear and a list cost few requests", async () => {
  const { proxy, store } = await openProxied();
  await store.append(conversation(), records("a", 2));
  const counts: Record<string, number> = {};
  const count = async (name: string, call: Promise<unknown>) => {
    proxy.reset();
    await call.catch(() => {});
    counts[name] = proxy.requests.length;
  };
  await count("repeated", store.append(conversation(), records("a", 2)));
  await count("conflict", store.append(conversation(), records("b", 1), { ifVersion: "old" }));
  await count("first record", store.read(conversation(), { last: 1, withFirst: true }));
  await count("list", store.list({ owner: "owner-1" }));
  await count("clear", store.clear(conversation()));
  await count("unknown", store.read(conversation("unknown")));
  await count("first append", store.append(conversation("new"), records("a", 1)));
  expect(counts).toEqual({
    repeated: 1,
    conflict: 1,
    "first record": 2,
    list: 1,
    clear: 4,
    unknown: 1,
    "first append": 3,
  });
});
