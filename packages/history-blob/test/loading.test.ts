import type { HistoryKey, HistoryRecord, HistoryStore } from "@agentfw/core";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { BlobHistoryStore } from "../src/index.ts";
import { conversation, idsOf, records, rejection } from "./support/conversation.ts";
import { openContainer, openProxied, openStore } from "./support/storage.ts";

const KEY = conversation();
const CONNECTION = { url: "https://account.blob.core.windows.net/agents" };

/** What happens before the part that talks to the service is loaded, and how often it was asked for. */
const loading = vi.hoisted(() => ({ before: async (): Promise<void> => {}, times: 0 }));

vi.mock("../src/load-engine.ts", async (importOriginal) => {
  const original = await importOriginal<typeof import("../src/load-engine.ts")>();
  const loadEngine: typeof original.loadEngine = async () => {
    loading.times += 1;
    await loading.before();
    return original.loadEngine();
  };
  return { loadEngine };
});

beforeEach(() => {
  loading.before = async () => {};
  loading.times = 0;
});

/** Nothing is loaded until the function that this gives is called. */
function holdLoading(): () => void {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  loading.before = () => released;
  return release;
}

function failLoading(cause: Error): void {
  loading.before = () => Promise.reject(cause);
}

/** Every call that talks to the service, by its name. */
function calls(store: BlobHistoryStore, signal?: AbortSignal): Record<string, () => Promise<unknown>> {
  return {
    append: () => store.append(KEY, records("a", 1), { signal }),
    "append of nothing": () => store.append(KEY, [], { signal }),
    read: () => store.read(KEY, { signal }),
    clear: () => store.clear(KEY, { signal }),
    list: () => store.list({ owner: "owner-1" }, { signal }),
    erase: () => store.erase({ owner: "owner-1" }, { signal }),
  };
}

describe("what talks to the service", () => {
  test("begins to load when a store is made, once for all of its calls", async () => {
    const store = openStore(await openContainer());
    expect(loading.times).toBe(1);
    await Promise.all(Object.values(calls(store)).map((call) => call()));
    expect(loading.times).toBe(1);
  });

  test("is not needed to make a store, to refuse bad arguments, or to close the store", async () => {
    holdLoading();
    expect(() => new BlobHistoryStore({ url: "" })).toThrow("url: ");
    expect(() => new BlobHistoryStore(CONNECTION, { segmentBlocks: 1 })).toThrow("segmentBlocks: ");
    const store = new BlobHistoryStore(CONNECTION, { timeoutMs: 100 });
    expect(store.capabilities).toMatchObject({ dedupe: 1000, list: true, maxRecordBytes: 16_777_216 });
    const many = Array.from({ length: 100_001 }, (_, index) => ({ id: String(index), data: "1" }));
    const refused = [
      [store.append(KEY, [{ id: "a", data: "{" }]), "configuration"],
      [store.append(KEY, many), "too_large"],
      [store.append(conversation("x".repeat(5_000)), records("a", 1)), "too_large"],
      [store.read(KEY, { before: "5" }), "configuration"],
      [store.list({ owner: "a" }, { cursor: "!" }), "configuration"],
      [Reflect.apply(store.erase, store, [{}]), "configuration"],
      [store.replace(), "unsupported"],
    ] as const;
    for (const [call, code] of refused) {
      expect((await rejection(call)).code).toBe(code);
    }
    await store.close();
  });
});

describe("calls made before it is loaded", () => {
  test("are carried out in their order, and in that of the calls made when it is", async () => {
    const release = holdLoading();
    const store = openStore(await openContainer());
    const appended: Promise<unknown>[] = [];
    const turns = 40;
    // Some before, some while it is loaded, a moment apart, and some after.
    for (let turn = 0; turn < turns; turn += 1) {
      if (turn === 10) {
        release();
      }
      appended.push(store.append(KEY, records(`turn-${turn}`, 1)));
      await (turn < 30 ? undefined : new Promise((resolve) => setImmediate(resolve)));
    }
    await Promise.all(appended);
    const ids = Array.from({ length: turns }, (_, turn) => `turn-${turn}-0`);
    expect(idsOf((await store.read(KEY)).records)).toEqual(ids);
  });

  test("are carried out with their arguments as they were at the call", async () => {
    const container = await openContainer();
    const other = openStore(container);
    await other.append(conversation("other"), records("other", 3));
    const release = holdLoading();
    const store = openStore(container);
    const key: { -readonly [Name in keyof HistoryKey]: HistoryKey[Name] } = conversation();
    const given: { -readonly [Name in keyof HistoryRecord]: HistoryRecord[Name] }[] = records("a", 2);
    const which = { last: 2, onCorrupt: "skip" as "skip" | "error" };
    const filter = { owner: "owner-1" };
    const erased = { owner: "nobody" };
    const appended = store.append(key, given);
    const read = store.read(conversation("other"), which);
    const listed = store.list(filter);
    const none = store.erase(erased);
    key.session = "changed";
    given[0]!.id = "changed";
    given.pop();
    which.last = 1;
    which.onCorrupt = "error";
    filter.owner = "nobody";
    erased.owner = "owner-1";
    release();
    expect((await appended).appended).toBe(2);
    expect(await read).toMatchObject({ records: [{ id: "other-1" }, { id: "other-2" }], corrupt: [] });
    expect((await listed).items.map(({ key: { owner } }) => owner)).toContain("owner-1");
    expect(await none).toEqual({ conversations: 0 });
    expect(idsOf((await store.read(KEY)).records)).toEqual(["a-0", "a-1"]);
    expect((await store.read(conversation("changed"))).records).toEqual([]);
  });

  test("end with the reason when they are aborted, and are not carried out", async () => {
    const release = holdLoading();
    const { proxy, store } = await openProxied();
    const controller = new AbortController();
    const settled = Promise.allSettled(Object.values(calls(store, controller.signal)).map((call) => call()));
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await settled).toEqual(Array.from({ length: 6 }, () => ({ status: "rejected", reason })));
    release();
    expect((await store.read(conversation("other"))).records).toEqual([]);
    expect(proxy.requests.map(({ kind }) => kind)).toEqual(["list"]);
  });

  test("end with a timeout when it takes too long, and are not carried out", async () => {
    const release = holdLoading();
    const { container, proxy, open } = await openProxied();
    const store = open({ timeoutMs: 50 });
    for (const [name, call] of Object.entries(calls(store))) {
      expect((await rejection(call())).code, name).toBe("timeout");
    }
    // Nothing that it waits for can come any more.
    await store.close();
    release();
    const other = openStore(container);
    await other.append(KEY, records("b", 1));
    expect(idsOf((await other.read(KEY)).records)).toEqual(["b-0"]);
    expect(proxy.requests).toEqual([]);
  });

  test("are waited for by close", async () => {
    const release = holdLoading();
    const container = await openContainer();
    const store: HistoryStore = openStore(container);
    const done: string[] = [];
    const appended = store.append(KEY, records("a", 1)).then(() => done.push("append"));
    const closed = store.close?.().then(() => done.push("close"));
    release();
    await Promise.all([appended, closed]);
    expect(done).toEqual(["append", "close"]);
    expect(idsOf((await openStore(container).read(KEY)).records)).toEqual(["a-0"]);
  });
});

describe("when it cannot be loaded", () => {
  test("every call is unavailable, with the cause, and the store can be closed", async () => {
    const cause = new Error("no such file");
    failLoading(cause);
    const store = new BlobHistoryStore(CONNECTION);
    for (const [name, call] of Object.entries(calls(store))) {
      const error = await rejection(call());
      expect(error, name).toMatchObject({ code: "unavailable", provider: "history-blob", retryable: true, cause });
      expect(error.message).toContain("a part of the package could not be loaded");
    }
    await store.close();
  });

  test("a store that nobody calls rejects nothing", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    failLoading(new Error("no such file"));
    const store = new BlobHistoryStore(CONNECTION);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await store.close();
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  test("calls that waited for it are unavailable, and a later one tries again", async () => {
    failLoading(new Error("too many open files"));
    const store = openStore(await openContainer());
    const waiting = [store.append(KEY, records("a", 1)), store.append(KEY, records("b", 1)), store.read(KEY)];
    const codes = waiting.map(async (call) => (await rejection(call)).code);
    expect(await Promise.all(codes)).toEqual(["unavailable", "unavailable", "unavailable"]);
    loading.before = async () => {};
    const later = [store.append(KEY, records("c", 1)), store.append(KEY, records("d", 1))];
    await Promise.all(later);
    expect(idsOf((await store.read(KEY)).records)).toEqual(["c-0", "d-0"]);
  });
});
