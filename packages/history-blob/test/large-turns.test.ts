import type { HistoryRecord } from "@agentfw/core";
import { expect, test } from "vitest";
import { conversation, idsOf, records, rejection, until } from "./support/conversation.ts";
import type { Fault } from "./support/service-proxy.ts";
import { blobNames, contentOf, openContainer, openProxied, openStore } from "./support/storage.ts";

const KEY = conversation();

/** A record of so many bytes. */
function largeRecord(id: string, bytes: number, unit = "plain "): HistoryRecord {
  const size = Buffer.byteLength(JSON.stringify(unit)) - 2;
  return { id, data: JSON.stringify({ text: unit.repeat(Math.ceil(bytes / size)) }) };
}

/** Characters of every length, and many that JSON escapes. */
const TRICKY = 'plain "quoted" \\ é ☃ 😀 ';

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

test("a turn above one block comes back byte for byte, alone, in a page and from page to page", async () => {
  const container = await openContainer();
  const store = openStore(container);
  const turns = [
    records("a", 2),
    [largeRecord("large-0", 4_600_000, TRICKY), ...records("b", 1), largeRecord("large-1", 100_000)],
    records("c", 2),
    [largeRecord("large-2", 4_300_000)],
  ];
  for (const turn of turns) {
    expect((await store.append(KEY, turn)).appended).toBe(turn.length);
    expect((await store.append(KEY, turn)).appended).toBe(0);
  }
  const all = turns.flat();
  for (const one of [store, openStore(container)]) {
    expect((await one.read(KEY)).records).toEqual(all);
    const newest = await one.read(KEY, { last: 1, withFirst: true });
    expect(idsOf(newest.records)).toEqual(["large-2"]);
    expect(newest.first).toEqual(all[0]);
    let before = newest.older;
    const seen = [...newest.records];
    while (before !== undefined) {
      const page = await one.read(KEY, { last: 2, before });
      seen.unshift(...page.records);
      before = page.older;
    }
    expect(seen).toEqual(all);
  }
  expect((await openStore(container).append(KEY, turns.flat())).appended).toBe(0);
});

test("a reader never sees a part of it", async () => {
  const { container, proxy, store } = await openProxied();
  await store.append(KEY, records("a", 2));
  const reader = openStore(container);
  await reader.read(KEY);
  const seen: string[][] = [];
  let blocks = 0;
  proxy.onRequest = (asked): Fault | undefined => {
    if (asked.kind !== "append") {
      return undefined;
    }
    blocks += 1;
    const looked = Promise.all([reader.read(KEY), openStore(container).read(KEY, { last: 20 })]).then((pages) => {
      seen.push(...pages.map((page) => idsOf(page.records)));
    });
    return { kind: "wait", until: looked };
  };
  const turn = [largeRecord("large-0", 9_000_000), ...records("b", 1)];
  await store.append(KEY, turn);
  expect(blocks).toBeGreaterThan(2);
  expect(seen).toHaveLength(blocks * 2);
  expect(seen.every((ids) => ids.join() === "a-0,a-1")).toBe(true);
  expect(idsOf((await reader.read(KEY)).records)).toEqual(["a-0", "a-1", "large-0", "b-0"]);
});

test("what a writer leaves that ends between two blocks is passed over, and every line stays JSON", async () => {
  const { container, proxy, store, open } = await openProxied();
  await store.append(KEY, records("a", 2));
  const ending = open({ timeoutMs: 2_000 });
  await ending.read(KEY);
  let blocks = 0;
  proxy.onRequest = ({ kind }) => {
    blocks += kind === "append" ? 1 : 0;
    return blocks > 1 ? { kind: "stall" } : undefined;
  };
  const turn = [largeRecord("large", 9_000_000)];
  // None of the blocks that were sent could have made it count.
  expect((await rejection(ending.append(KEY, turn))).code).toBe("timeout");
  proxy.onRequest = () => undefined;

  const other = openStore(container);
  expect(idsOf((await other.read(KEY, { last: 20 })).records)).toEqual(["a-0", "a-1"]);
  expect(await other.append(KEY, records("b", 2))).toMatchObject({ appended: 2 });
  expect(await store.append(KEY, turn)).toMatchObject({ appended: 1 });
  const expected = ["a-0", "a-1", "b-0", "b-1", "large"];
  for (const one of [store, other, openStore(container)]) {
    const page = await one.read(KEY);
    expect(idsOf(page.records)).toEqual(expected);
    expect(page.records.at(-1)).toEqual(turn[0]);
  }
  const [name = ""] = await blobNames(container);
  const lines = (await contentOf(container, name)).toString("utf8").trimEnd().split("\n");
  expect(lines.map((line) => Object.keys(JSON.parse(line))[0])).toEqual(expect.arrayContaining(["turn", "part"]));
});

test("a lost answer to any of its blocks stores it once", async () => {
  for (const lost of [1, 3]) {
    const { proxy, store, open } = await openProxied();
    let blocks = 0;
    proxy.onRequest = ({ kind }) => {
      blocks += kind === "append" ? 1 : 0;
      return kind === "append" && blocks === lost ? { kind: "lose" } : undefined;
    };
    const turn = [largeRecord("large", 9_000_000), ...records("b", 1)];
    expect((await store.append(KEY, turn)).appended).toBe(2);
    expect((await open().read(KEY)).records).toEqual(turn);
  }
});

test("a writer lets another one finish, who is between two blocks", async () => {
  const { container, proxy, store } = await openProxied();
  await store.append(KEY, records("a", 1));
  const [isBetween, goOn] = [deferred(), deferred()];
  let blocks = 0;
  proxy.onRequest = ({ kind }) => {
    blocks += kind === "append" ? 1 : 0;
    if (blocks !== 2) {
      return undefined;
    }
    isBetween.resolve();
    return { kind: "wait", until: goOn.promise };
  };
  const large = store.append(KEY, [largeRecord("large", 9_000_000)]);
  await isBetween.promise;
  const small = openStore(container).append(KEY, records("small", 1));
  setTimeout(goOn.resolve, 200);
  await Promise.all([large, small]);
  expect(idsOf((await store.read(KEY)).records)).toEqual(["a-0", "large", "small-0"]);
  // Had it come in between, all blocks would have been sent again.
  expect(blocks).toBe(3);
});

test("large and small turns of several writers at once are each whole and stored once", async () => {
  const container = await openContainer();
  const stores = Array.from({ length: 3 }, () => openStore(container, { timeoutMs: 60_000, segmentBlocks: 9 }));
  await Promise.all(
    stores.map(async (store, writer) => {
      for (let turn = 0; turn < 2; turn += 1) {
        const name = `w${writer}-${turn}`;
        const batch = records(name, 2);
        await store.append(KEY, writer < 2 ? [...batch, largeRecord(`${name}-2`, 5_000_000)] : batch);
      }
    }),
  );
  const ids = idsOf((await openStore(container).read(KEY)).records);
  expect(ids).toHaveLength(16);
  expect(new Set(ids).size).toBe(16);
  for (const [at, id] of ids.entries()) {
    expect(id.endsWith("-0") ? ids[at + 1] : ids[at - 1]).toContain(id.slice(0, -2));
  }
  await until(async () => (await blobNames(container)).length > 1);
});

test("what is read at once has a limit, whatever is stored", async () => {
  const { container, proxy, store, open } = await openProxied();
  const direct = openStore(container);
  const ids: string[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    ids.push(`large-${turn}`);
    await direct.append(KEY, [largeRecord(`large-${turn}`, 4_100_000)]);
  }
  await store.read(KEY, { last: 1 });
  for (const one of [store, open()]) {
    proxy.reset();
    expect(idsOf((await one.read(KEY)).records)).toEqual(ids);
    const sizes = proxy.requests.map(({ answeredBytes }) => answeredBytes);
    expect(Math.max(...sizes)).toBeLessThan(17 * 1024 * 1024);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(20_000_000);
  }
});
