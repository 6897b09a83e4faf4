import type { HistoryRecord } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import type { BlobHistoryStore } from "../src/index.ts";
import { conversation, idsOf, records, rejection } from "./support/conversation.ts";
import type { Fault, ProxiedRequest } from "./support/service-proxy.ts";
import { blobNames, openProxied, openStore } from "./support/storage.ts";

const KEY = conversation();

/** Holds the first request of a kind until something else has happened. */
function overtaken(
  kind: ProxiedRequest["kind"],
  by: () => Promise<unknown>,
): (asked: ProxiedRequest) => Fault | undefined {
  let isFirst = true;
  return (asked) => {
    if (asked.kind !== kind || !isFirst) {
      return undefined;
    }
    isFirst = false;
    return { kind: "wait", until: by().then(() => {}) };
  };
}

async function storedIds(store: BlobHistoryStore): Promise<string[]> {
  return idsOf((await store.read(KEY)).records);
}

async function clearAndBeginAgain(store: BlobHistoryStore): Promise<void> {
  await store.clear(KEY);
  await store.append(KEY, records("new", 1));
}

describe("a clear that another clear and a new beginning overtake", () => {
  test("before it lists what it deletes leaves the new conversation as it is", async () => {
    const { container, proxy, store } = await openProxied();
    await store.append(KEY, records("a", 1));
    const other = openStore(container);
    let isSealed = false;
    const overtake = overtaken("list", () => clearAndBeginAgain(other));
    proxy.onRequest = (asked) => {
      isSealed ||= asked.kind === "append";
      return isSealed ? overtake(asked) : undefined;
    };
    await store.clear(KEY);
    for (const one of [store, other, openStore(container)]) {
      expect(await storedIds(one)).toEqual(["new-0"]);
    }
  });

  test("before it makes the segment that it closes clears all of a conversation or none", async () => {
    const { container, proxy, store, open } = await openProxied({ segmentBlocks: 3 });
    await store.append(KEY, records("a", 1));
    await store.append(KEY, records("b", 1));
    // Closed, and nothing after it.
    proxy.onRequest = ({ kind }) => (kind === "create" ? { kind: "answer", status: 403 } : undefined);
    await rejection(store.append(KEY, records("c", 1)));
    const other = openStore(container);
    proxy.onRequest = overtaken("create", () => clearAndBeginAgain(other));
    await open().clear(KEY);
    expect((await other.append(KEY, records("d", 1))).appended).toBe(1);
    // It may have cleared the new one, too, which was written while it ran.
    expect([["d-0"], ["new-0", "d-0"]]).toContainEqual(await storedIds(openStore(container)));
  });
});

describe("a writer that has closed a segment, and makes the next one", () => {
  async function closing(began: boolean) {
    const { container, proxy, store } = await openProxied({ segmentBlocks: 3 });
    await store.append(KEY, records("a", 1));
    await store.append(KEY, records("b", 1));
    const other = openStore(container);
    proxy.onRequest = overtaken("create", () => (began ? clearAndBeginAgain(other) : other.clear(KEY)));
    expect((await store.append(KEY, records("c", 1))).appended).toBe(1);
    return { container, stores: [store, other, openStore(container)] };
  }

  test("after all was cleared begins a conversation", async () => {
    const { container, stores } = await closing(false);
    for (const one of stores) {
      expect(await storedIds(one)).toEqual(["c-0"]);
    }
    expect(await blobNames(container)).toHaveLength(1);
  });

  test("after all was cleared and begun again goes on with the new conversation", async () => {
    const { container, stores } = await closing(true);
    for (const one of stores) {
      expect(await storedIds(one)).toEqual(["new-0", "c-0"]);
    }
    expect(await blobNames(container)).toHaveLength(1);
  });

  test.each([true, false])(
    "after all was cleared, and then ends, hides nothing that others write before or after (begun again: %s)",
    async (began) => {
      const { container, proxy, store } = await openProxied({ segmentBlocks: 3 });
      await store.append(KEY, records("a", 1));
      await store.append(KEY, records("b", 1));
      const other = openStore(container, { segmentBlocks: 3 });
      const overtake = overtaken("create", () => (began ? clearAndBeginAgain(other) : other.clear(KEY)));
      let isMade = false;
      proxy.onRequest = (asked) => {
        const fault = isMade ? ({ kind: "drop" } as const) : overtake(asked);
        isMade ||= fault?.kind === "wait";
        return fault;
      };
      expect((await rejection(store.append(KEY, records("c", 1)))).code).toBe("unavailable");
      // What it made is there, in front of the new conversation.
      expect((await blobNames(container))[0]).toContain("s999999998-1.jsonl");
      expect(await storedIds(openStore(container))).toEqual(began ? ["new-0"] : []);
      const expected = began ? ["new-0"] : [];
      for (const name of ["d", "e", "f"]) {
        await other.append(KEY, records(name, 1));
        expected.push(`${name}-0`);
        expect(await storedIds(openStore(container))).toEqual(expected);
      }
      await other.clear(KEY);
      expect(await blobNames(container)).toEqual([]);
    },
  );
});

describe("after a clear that did not come to its end", () => {
  async function halfCleared() {
    const opened = await openProxied({ segmentBlocks: 3 });
    for (const name of ["a", "b", "c"]) {
      await opened.store.append(KEY, records(name, 1));
    }
    opened.proxy.onRequest = ({ kind }) => (kind === "delete" ? { kind: "drop" } : undefined);
    expect((await rejection(opened.store.clear(KEY))).code).toBe("outcome_unknown");
    opened.proxy.onRequest = () => undefined;
    return opened;
  }

  test("the next writer deletes the rest and begins in the first segment", async () => {
    const { container, open } = await halfCleared();
    await open().append(KEY, records("d", 1));
    expect(await blobNames(container)).toEqual([expect.stringContaining("s999999999-0.jsonl")]);
  });

  test("a writer that another clear and a new beginning overtake goes on with the new conversation", async () => {
    for (const kind of ["list", "delete", "create"] as const) {
      const { container, proxy, open } = await halfCleared();
      const other = openStore(container);
      proxy.onRequest = overtaken(kind, () => clearAndBeginAgain(other));
      const one = open();
      expect((await one.append(KEY, records("d", 1))).appended).toBe(1);
      for (const reader of [one, other, openStore(container)]) {
        expect(await storedIds(reader)).toEqual(["new-0", "d-0"]);
      }
    }
  });

  test("several writers at once begin one conversation", async () => {
    const { container } = await halfCleared();
    const stores = Array.from({ length: 4 }, () => openStore(container));
    await Promise.all(stores.map((store, index) => store.append(KEY, records(`w${index}`, 2))));
    expect(await storedIds(openStore(container))).toHaveLength(8);
    expect(await blobNames(container)).toHaveLength(1);
  });

  test("a writer without the right to delete begins in the segment after it", async () => {
    const { container, proxy, open } = await halfCleared();
    proxy.onRequest = ({ kind }) => (kind === "delete" ? { kind: "answer", status: 403 } : undefined);
    expect((await open().append(KEY, records("d", 1))).appended).toBe(1);
    expect(await storedIds(openStore(container))).toEqual(["d-0"]);
    await openStore(container).clear(KEY);
    expect(await blobNames(container)).toEqual([]);
  });
});

test("a turn whose answer was lost is found behind megabytes that others wrote meanwhile, over several segments", async () => {
  for (const segmentBlocks of [45_000, 3]) {
    const { container, proxy, store } = await openProxied();
    const { version } = await store.append(KEY, records("a", 1));
    const other = openStore(container, { segmentBlocks });
    const large = (id: string): HistoryRecord[] => [{ id, data: JSON.stringify("x".repeat(100_000)) }];
    const overtake = overtaken("append", async () => {
      for (let turn = 0; turn < 20; turn += 1) {
        await other.append(KEY, large(`other-${turn}`));
      }
    });
    let isLost = false;
    proxy.onRequest = (asked) => {
      if (asked.kind === "append" && !isLost) {
        isLost = true;
        return { kind: "lose" };
      }
      return overtake(asked);
    };
    const appended = await store.append(KEY, records("b", 2), { ifVersion: version });
    expect(appended.appended).toBe(2);
    const ids = await storedIds(openStore(container));
    expect(ids.slice(0, 3)).toEqual(["a-0", "b-0", "b-1"]);
    expect(ids).toHaveLength(23);
  }
});
