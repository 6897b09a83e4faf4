import { afterEach, describe, expect, test } from "vitest";
import { type RedisClient, RedisHistoryStore, type RedisHistoryStoreOptions } from "../src/index.ts";
import { type EngineModule, engineSource } from "../src/load-engine.ts";
import { codeOf, conversation, openClient, openStore, recordsOf, rejection } from "./support/redis.ts";
import { freshPrefix } from "./support/stores.ts";

const KEY = conversation("s");
const fromPackage = engineSource.load;

afterEach(() => {
  engineSource.load = fromPackage;
});

/** Lets a test decide when loading ends, and how. */
function holdLoading() {
  let [loads, finish, fail] = [0, () => {}, (_cause: unknown) => {}];
  const loading = new Promise<EngineModule>((resolve, reject) => {
    finish = () => resolve(fromPackage());
    fail = reject;
  });
  engineSource.load = () => {
    loads += 1;
    return loading;
  };
  return { loading, finish, fail, loads: () => loads };
}

/** A store on a passed-in client, and the commands that were sent over it, in order. */
function openRecorded(options: RedisHistoryStoreOptions = {}) {
  const redis = openClient();
  const sent: string[] = [];
  const call: RedisClient["call"] = (command, args) => {
    sent.push(command);
    return redis.call(command, args);
  };
  const keyPrefix = freshPrefix();
  return { store: new RedisHistoryStore({ client: { call } }, { ...options, keyPrefix }), sent, keyPrefix };
}

const everyCall = (store: RedisHistoryStore, signal?: AbortSignal): Promise<unknown>[] => [
  store.append(KEY, recordsOf("1"), { signal }),
  store.append(KEY, [], { signal }),
  store.read(KEY, { signal }),
  store.read(KEY, { last: 2, withFirst: true, signal }),
  store.replace(KEY, { fromId: "1", throughId: "1" }, recordsOf("2"), { signal }),
  store.list({ owner: "alice" }, { signal }),
  store.clear(KEY, { signal }),
];

describe("while the part that talks to the server is loaded", () => {
  test("wrong arguments are refused at once", async () => {
    holdLoading();
    expect(() => new RedisHistoryStore({ url: "http://host" })).toThrow(/url/);
    const store = new RedisHistoryStore({ url: "redis://127.0.0.1:1" }, { maxRecordBytes: 100 });
    expect(store.capabilities.maxRecordBytes).toBe(100);
    const refused = [
      store.append({ ...KEY, session: "" }, recordsOf("1")),
      store.append(KEY, [{ id: "1", data: "no JSON" }]),
      store.read(KEY, { before: "no cursor" }),
      store.replace(KEY, { fromId: "", throughId: "1" }, []),
      store.list({ owner: "alice" }, { cursor: "no cursor" }),
    ];
    expect(await Promise.all(refused.map(codeOf))).toEqual(Array.from(refused, () => "configuration"));
    expect(await codeOf(store.append(KEY, [{ id: "1", data: `"${"x".repeat(100)}"` }]))).toBe("too_large");
  });

  test("calls wait, and are carried out in their order with their arguments as they were", async () => {
    // A script that the server does not know yet goes twice, and what was called later overtakes it.
    await Promise.allSettled(everyCall(openStore().store));
    const { loading, finish, loads } = holdLoading();
    // Before all others when loading has ended, and yet made later than those that wait.
    const late: Promise<unknown>[] = [];
    const append = (id: string) => late.push(store.append(KEY, recordsOf(id)));
    void loading.then(() => append("late"));
    const { store, sent } = openRecorded();
    const [records, range, filter] = [recordsOf("1", "2"), { fromId: "2", throughId: "2" }, { owner: "alice" }];
    const options = { last: 5 };
    const calls = [
      store.append(KEY, records),
      store.append(KEY, recordsOf("3")),
      store.replace(KEY, range, records.slice(1)),
      store.read(KEY, options),
      store.list(filter),
    ];
    records.splice(0, 2, ...recordsOf("changed"));
    Object.assign(range, { fromId: "changed", throughId: "changed" });
    Object.assign(filter, { owner: "changed" });
    options.last = 1;
    void loading.then(() => append("latest"));
    expect([sent, loads()]).toEqual([[], 1]);
    finish();
    const [, , , page, list] = await Promise.all(calls);
    expect(page).toMatchObject({ records: recordsOf("1", "2", "3") });
    expect(list).toEqual({ items: [expect.objectContaining({ key: KEY })] });
    await Promise.all(late);
    const { records: stored } = await store.read(KEY);
    expect(stored.map(({ id }) => id)).toEqual(["1", "2", "3", "late", "latest"]);
  });

  test("turns of many calls stay whole and in order", async () => {
    const { finish } = holdLoading();
    const { store } = openRecorded({ ttlSeconds: 60 });
    const turns = Array.from({ length: 20 }, (_, turn) => store.append(KEY, recordsOf(`${turn}a`, `${turn}b`)));
    finish();
    await Promise.all(turns);
    const ids = (await store.read(KEY)).records.map(({ id }) => id);
    expect(ids).toEqual(turns.flatMap((_, turn) => [`${turn}a`, `${turn}b`]));
  });

  test("a signal ends calls with its reason, and nothing of them is sent", async () => {
    const { finish } = holdLoading();
    const { store, sent } = openRecorded();
    const controller = new AbortController();
    const calls = everyCall(store, controller.signal).map(rejection);
    controller.abort(new Error("given up"));
    for (const error of await Promise.all(calls)) {
      expect(error).toBe(controller.signal.reason);
    }
    finish();
    expect((await store.read(KEY)).records).toEqual([]);
    expect(sent).toHaveLength(1);
  });

  test("time counts, and what took too long is not sent", async () => {
    const { finish } = holdLoading();
    const { store, sent, keyPrefix } = openRecorded({ timeoutMs: 50 });
    expect(new Set(await Promise.all(everyCall(store).map(codeOf)))).toEqual(new Set(["timeout"]));
    finish();
    expect((await openStore({ keyPrefix }).store.read(KEY)).records).toEqual([]);
    expect(sent).toEqual([]);
  });

  test("no connection is opened for what took too long", async () => {
    const { finish, loading } = holdLoading();
    let attempts = 0;
    const connect = async () => {
      attempts += 1;
    };
    const client: RedisClient = { call: async () => [], status: "wait", connect, on: () => {}, off: () => {} };
    const store = new RedisHistoryStore({ client }, { timeoutMs: 20 });
    expect(await codeOf(store.read(KEY))).toBe("timeout");
    finish();
    await loading;
    await new Promise((resolve) => setImmediate(resolve));
    expect(attempts).toBe(0);
    expect(await codeOf(store.read(KEY))).toBe("timeout");
    expect(attempts).toBe(1);
  });

  test("close does not wait for it when nothing is under way; later calls are refused", async () => {
    const { finish } = holdLoading();
    const { store } = openStore();
    await store.close();
    const call = rejection(store.read(KEY));
    finish();
    expect(await call).toMatchObject({ code: "configuration", message: expect.stringContaining("closed") });
    expect(await codeOf(store.append(KEY, recordsOf("1")))).toBe("configuration");
  });

  test("close lets the calls before it be carried out, and is over only then", async () => {
    await openStore().store.append(KEY, recordsOf("1"));
    const { finish } = holdLoading();
    const { store, keyPrefix } = openStore();
    const append = store.append(KEY, recordsOf("1"));
    const closed = store.close();
    finish();
    await closed;
    expect((await openStore({ keyPrefix }).store.read(KEY)).records).toEqual(recordsOf("1"));
    expect(await append).toMatchObject({ appended: 1 });
    expect(await codeOf(store.read(KEY))).toBe("configuration");
  });

  test("a call behind close is refused, also while those before it wait", async () => {
    const { finish } = holdLoading();
    const { store } = openStore();
    const before = store.append(KEY, recordsOf("1"));
    const closed = store.close();
    const behind = rejection(store.append(KEY, recordsOf("2")));
    finish();
    expect(await behind).toMatchObject({ code: "configuration", message: expect.stringContaining("closed") });
    await Promise.all([before, closed]);
  });

  test("close waits no longer than the calls before it may take", async () => {
    holdLoading();
    const { store } = openStore({ timeoutMs: 50 });
    const call = codeOf(store.read(KEY));
    await store.close();
    expect(await call).toBe("timeout");
  });
});

describe("once it is loaded", () => {
  test("a call is sent in the turn in which it is made", async () => {
    const { store, sent } = openRecorded();
    await store.read(KEY);
    sent.length = 0;
    const calls = [store.append(KEY, recordsOf("1")), store.read(KEY)];
    expect(sent).toEqual(["evalsha", "lrange"]);
    await Promise.all(calls);
  });

  test("it is not loaded again", async () => {
    const { finish, loads } = holdLoading();
    const { store } = openStore();
    finish();
    await store.read(KEY);
    await store.append(KEY, recordsOf("1"));
    expect(loads()).toBe(1);
  });
});

describe("when it cannot be loaded", () => {
  test("every call is unavailable and says why, nothing is sent, and nobody need listen", async () => {
    const { fail } = holdLoading();
    const { store, sent } = openRecorded();
    const calls = everyCall(store).map(rejection);
    const cause = new Error("no such file");
    fail(cause);
    for (const error of await Promise.all(calls)) {
      expect(error).toMatchObject({
        code: "unavailable",
        provider: "history-redis",
        message: expect.stringMatching(/^\[history-redis\] \w+: a part of the package could not be loaded$/),
        cause,
      });
    }
    // Vitest fails on a rejection that nobody hears.
    const unused = openStore().store;
    await new Promise((resolve) => setImmediate(resolve));
    await unused.close();
    expect(sent).toEqual([]);
  });

  test("the next call tries again", async () => {
    let isBroken = true;
    engineSource.load = () => (isBroken ? Promise.reject(new Error("no such file")) : fromPackage());
    const { store } = openStore();
    expect(await codeOf(store.append(KEY, recordsOf("1")))).toBe("unavailable");
    expect(await codeOf(store.append(KEY, recordsOf("1")))).toBe("unavailable");
    isBroken = false;
    expect(await store.append(KEY, recordsOf("1"))).toMatchObject({ appended: 1 });
  });

  test("close ends all the same, and the store stays closed", async () => {
    let isBroken = true;
    engineSource.load = () => (isBroken ? Promise.reject(new Error("no such file")) : fromPackage());
    const { store } = openStore();
    const call = codeOf(store.read(KEY));
    await store.close();
    expect(await call).toBe("unavailable");
    isBroken = false;
    expect(await rejection(store.read(KEY))).toMatchObject({ message: expect.stringContaining("closed") });
  });
});
