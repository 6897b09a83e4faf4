import { describe, expect, test } from "vitest";
import { conversationPlace } from "../src/places.ts";
import { conversation, idsOf, records, rejection } from "./support/conversation.ts";
import { type Fault, failing } from "./support/service-proxy.ts";
import { blobNames, contentOf, openContainer, openProxied, openStore, rewrite } from "./support/storage.ts";

const KEY = conversation();
const { directory } = conversationPlace("history", KEY, true);

/** The segments' numbers, newest first. */
function numbers(names: readonly string[]): number[] {
  return names.map((name) => Number(/-(\d+)\.jsonl$/.exec(name)?.[1]));
}

describe("a segment that is full", () => {
  test("is followed by another one, and the older one stays as it is", async () => {
    const container = await openContainer();
    const store = openStore(container, { segmentBlocks: 5 });
    for (let turn = 0; turn < 12; turn += 1) {
      await store.append(KEY, records(`turn-${turn}`, 1));
    }
    const names = await blobNames(container);
    expect(numbers(names)).toEqual([2, 1, 0]);
    const first = await contentOf(container, names[2] ?? "");
    expect(first.toString("utf8").trimEnd().split("\n")).toHaveLength(5);
    await store.append(KEY, records("more", 1));
    expect(await contentOf(container, names[2] ?? "")).toEqual(first);
    const expected = [...Array.from({ length: 12 }, (_, turn) => `turn-${turn}-0`), "more-0"];
    for (const one of [store, openStore(container)]) {
      expect(idsOf((await one.read(KEY)).records)).toEqual(expected);
    }
  });

  test("by its bytes is followed by another one, and a turn above them has one for itself", async () => {
    const container = await openContainer();
    const store = openStore(container, { segmentBytes: 65_536 });
    const large = (id: string, bytes: number) => [{ id, data: JSON.stringify("x".repeat(bytes)) }];
    for (const [id, bytes] of [
      ["a", 40_000],
      ["b", 40_000],
      ["c", 200_000],
      ["d", 10],
    ] as const) {
      await store.append(KEY, large(id, bytes));
    }
    expect(numbers(await blobNames(container))).toEqual([3, 2, 1, 0]);
    expect(idsOf((await openStore(container).read(KEY, { last: 3 })).records)).toEqual(["b", "c", "d"]);
  });

  test("as the service says is followed by another one, for two writers too", async () => {
    const { container, proxy, store, open } = await openProxied();
    const other = open();
    const blocks = new Map<string, number>();
    // The service's own limit, at five blocks in place of 50,000.
    proxy.onRequest = ({ kind, path }): Fault | undefined => {
      if (kind !== "append") {
        return undefined;
      }
      blocks.set(path, (blocks.get(path) ?? 0) + 1);
      return (blocks.get(path) ?? 0) > 5 ? { kind: "answer", status: 409, code: "BlockCountExceedsLimit" } : undefined;
    };
    for (let turn = 0; turn < 8; turn += 1) {
      await store.append(KEY, records(`a-${turn}`, 1));
      await other.append(KEY, records(`b-${turn}`, 1));
    }
    expect((await openStore(container).read(KEY)).records).toHaveLength(16);
    expect(new Set(numbers(await blobNames(container))).size).toBeGreaterThan(2);
  });
});

test.each([
  [409, "BlobAlreadyExists"],
  [412, "ConditionNotMet"],
  [409, "UnauthorizedBlobOverwrite"],
] as const)("a new segment that someone else made meanwhile, as %i %s tells, is gone on with", async (status, code) => {
  const { container, proxy, store, open } = await openProxied({ segmentBlocks: 3 });
  const fault: Fault = { kind: "answer", status, code, isDone: true };
  for (let turn = 0; turn < 7; turn += 1) {
    proxy.onRequest = failing("create", fault);
    const one = turn % 2 === 0 ? store : open();
    expect((await one.append(KEY, records(`turn-${turn}`, 2))).appended).toBe(2);
  }
  const { records: stored } = await openStore(container).read(KEY);
  expect(idsOf(stored)).toEqual(Array.from({ length: 7 }, (_, turn) => [`turn-${turn}-0`, `turn-${turn}-1`]).flat());
  expect(numbers(await blobNames(container))).toEqual([3, 2, 1, 0]);
});

test.each(["append", "create"] as const)(
  "a writer that ends in the middle of closing a segment, at its %s, leaves nothing that others cannot go on with",
  async (kind) => {
    const { container, proxy, store } = await openProxied({ segmentBlocks: 3, timeoutMs: 1_000 });
    await store.append(KEY, records("a", 1));
    await store.append(KEY, records("b", 1));
    // The seal and what follows it: the first is done, and nothing after it.
    let isSealed = false;
    proxy.onRequest = (asked) => {
      if (asked.kind === "append" && !isSealed) {
        isSealed = true;
        return kind === "append" ? { kind: "stall", isDone: true } : undefined;
      }
      return asked.kind === kind ? { kind: "stall", isDone: kind === "create" } : undefined;
    };
    expect(["timeout", "outcome_unknown"]).toContain((await rejection(store.append(KEY, records("c", 1)))).code);
    proxy.onRequest = () => undefined;
    const other = openStore(container, { segmentBlocks: 3 });
    expect(idsOf((await other.read(KEY)).records)).toEqual(["a-0", "b-0"]);
    const { version } = await other.read(KEY);
    expect((await other.append(KEY, records("d", 1), { ifVersion: version })).appended).toBe(1);
    expect((await store.append(KEY, records("c", 1))).appended).toBe(1);
    expect(idsOf((await openStore(container).read(KEY)).records)).toEqual(["a-0", "b-0", "d-0", "c-0"]);
  },
);

test("a sealed segment may be made a block blob, which can be cooled, and is read as before", async () => {
  const container = await openContainer();
  const store = openStore(container, { segmentBlocks: 4 });
  for (let turn = 0; turn < 8; turn += 1) {
    await store.append(KEY, records(`turn-${turn}`, 1));
  }
  const name = (await blobNames(container)).at(-1) ?? "";
  const { metadata = {} } = await container.getBlobClient(name).getProperties();
  const content = await contentOf(container, name);
  await container.deleteBlob(name);
  await container.getBlockBlobClient(name).upload(content, content.length, { metadata, tier: "Cool" });
  for (const one of [store, openStore(container)]) {
    expect((await one.read(KEY)).records).toHaveLength(8);
    expect((await one.append(KEY, records("turn-0", 1))).appended).toBe(0);
  }
  await store.clear(KEY);
  expect(await blobNames(container)).toEqual([]);
});

test("a segment that is missing is told, and what is after it can be read", async () => {
  const container = await openContainer();
  const store = openStore(container, { segmentBlocks: 3 });
  for (let turn = 0; turn < 6; turn += 1) {
    await store.append(KEY, records(`turn-${turn}`, 1));
  }
  const names = await blobNames(container);
  await container.deleteBlob(names[1] ?? "");
  for (const one of [store, openStore(container)]) {
    expect(await rejection(one.read(KEY))).toMatchObject({
      code: "corrupt",
      position: expect.stringContaining("segment 1"),
    });
    const page = await one.read(KEY, { onCorrupt: "skip" });
    expect(idsOf(page.records)).toEqual(["turn-4-0", "turn-5-0"]);
    expect(page.corrupt).toHaveLength(1);
    expect(page.older).toBeUndefined();
    expect(idsOf((await one.read(KEY, { last: 2 })).records)).toEqual(["turn-4-0", "turn-5-0"]);
    expect((await one.append(KEY, records("turn-5", 1))).appended).toBe(0);
  }
});

test("lines that cannot be read, a cut line and a cut blob are told, and the conversation goes on", async () => {
  for (const change of [
    (content: Buffer) => content.fill("?", 40, 60),
    (content: Buffer) => content.fill("\0", 0, 10),
    (content: Buffer) => Buffer.concat([content, Buffer.from("what someone else wrote")]),
    (content: Buffer) => content.subarray(0, content.length - 20),
    (content: Buffer) => Buffer.from(content.toString("utf8").replaceAll(",", ", ")),
  ]) {
    const container = await openContainer();
    const store = openStore(container);
    await store.append(KEY, records("a", 2));
    await store.append(KEY, records("b", 2));
    await rewrite(container, (await blobNames(container, directory))[0] ?? "", change);
    for (const [index, one] of [store, openStore(container)].entries()) {
      expect((await rejection(one.read(KEY))).code).toBe("corrupt");
      expect((await one.append(KEY, records(`c${index}`, 2))).appended).toBe(2);
      const page = await one.read(KEY, { onCorrupt: "skip" });
      expect(idsOf(page.records).slice(-2)).toEqual([`c${index}-0`, `c${index}-1`]);
      expect(page.corrupt?.length).toBeGreaterThan(0);
    }
  }
});

test("a conversation whose only line cannot be read is told, and never reads as no conversation", async () => {
  const container = await openContainer();
  await openStore(container).append(KEY, records("a", 2));
  await rewrite(container, (await blobNames(container, directory))[0] ?? "", (content) => content.fill("?", 0, 20));
  const store = openStore(container);
  // The first look, and one from what is known then.
  for (let look = 0; look < 2; look += 1) {
    expect(await rejection(store.read(KEY))).toMatchObject({ code: "corrupt", position: "segment 0, byte 0" });
  }
  const page = await store.read(KEY, { onCorrupt: "skip" });
  expect(page).toMatchObject({ records: [], corrupt: ["segment 0, byte 0"] });
  const { version } = await store.append(KEY, records("b", 1), { ifVersion: page.version });
  expect(version).not.toBe(page.version);
  expect(idsOf((await store.read(KEY, { onCorrupt: "skip" })).records)).toEqual(["b-0"]);
});

test("a closed segment that was cut is told, and what is after it can be read", async () => {
  for (const left of [120, 0]) {
    const container = await openContainer();
    const store = openStore(container, { segmentBlocks: 3 });
    for (let turn = 0; turn < 6; turn += 1) {
      await store.append(KEY, records(`turn-${turn}`, 1));
    }
    const { older: before } = await store.read(KEY, { last: 2 });
    const names = await blobNames(container);
    await rewrite(container, names[1] ?? "", (content) => content.subarray(0, left));
    for (const one of [store, openStore(container)]) {
      expect((await rejection(one.read(KEY))).code).toBe("corrupt");
      const page = await one.read(KEY, { onCorrupt: "skip" });
      expect(idsOf(page.records)).toEqual(["turn-4-0", "turn-5-0"]);
      expect(page.corrupt).toEqual([expect.stringContaining("segment 1")]);
      expect(page.older).toBeUndefined();
      expect(before).toBeDefined();
    }
  }
});

test("a cursor that names a place where nothing ever was is bad input, and no damage", async () => {
  const store = openStore(await openContainer(), { segmentBlocks: 5 });
  for (let turn = 0; turn < 10; turn += 1) {
    await store.append(KEY, records(`turn-${turn}`, 2));
  }
  const { older = "" } = await store.read(KEY, { last: 2 });
  const [life, segment, end] = older.split(".");
  for (const made of [
    `${segment}.99999999.0`,
    `${segment}.1.0`,
    `7.${end}.0`,
    `999999999.${end}.0`,
    `${segment}.${end}.9`,
  ]) {
    for (const onCorrupt of ["error", "skip"] as const) {
      const error = await rejection(store.read(KEY, { last: 2, before: `${life}.${made}`, onCorrupt }));
      expect(error.code, made).toBe("configuration");
    }
  }
});
