import { afterEach, describe, expect, test } from "vitest";
import { type RedisClient, RedisStateStore, type RedisStateStoreOptions } from "../src/index.ts";
import { type EngineModule, engineSource } from "../src/load-engine.ts";
import { codeOf, openClient, openStore, rejection } from "./support/redis.ts";
import { freshPrefix } from "./support/stores.ts";

const TEXT = '{"a":1}';
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
function openRecorded(options: RedisStateStoreOptions = {}) {
  const redis = openClient();
  const sent: string[] = [];
  const call: RedisClient["call"] = (command, args) => {
    sent.push(command);
    return redis.call(command, args);
  };
  const keyPrefix = freshPrefix();
  return { store: new RedisStateStore({ client: { call } }, { ...options, keyPrefix }), sent, keyPrefix };
}

const everyCall = (store: RedisStateStore, signal?: AbortSignal): Promise<unknown>[] => [
  store.create("a", TEXT, { signal }),
  store.set("a", TEXT, { signal }),
  store.get("a", { signal }),
  store.listKeys({ signal }),
  store.delete("a", { signal }),
];

describe("while the part that talks to the server is loaded", () => {
  test("wrong arguments are refused at once", async () => {
    holdLoading();
    expect(() => new RedisStateStore({ url: "http://host" })).toThrow(/url/);
    const store = new RedisStateStore({ url: "redis://127.0.0.1:1" }, { maxValueBytes: 100 });
    expect(store.capabilities.maxValueBytes).toBe(100);
    const refused = [
      store.create("", TEXT),
      store.set("a", "no JSON"),
      store.listKeys({ cursor: "no cursor" }),
      store.listKeys({ limit: 0 }),
    ];
    expect(await Promise.all(refused.map(codeOf))).toEqual(Array.from(refused, () => "configuration"));
    expect(await codeOf(store.set("a", JSON.stringify({ a: "x".repeat(100) })))).toBe("too_large");
  });

  test("calls wait, and are carried out in their order with their arguments as they were", async () => {
    // A script that the server does not know yet goes twice, and what was called later overtakes it.
    await Promise.allSettled(everyCall(openStore().store));
    const { loading, finish, loads } = holdLoading();
    // Before all others when loading has ended, and yet made later than those that wait.
    const late: Promise<unknown>[] = [];
    const create = (key: string) => late.push(store.create(key, TEXT));
    void loading.then(() => create("late"));
    const { store, sent } = openRecorded();
    const [tags, options] = [{ kind: "first" }, { owner: null, tags: { kind: "first" }, limit: 5 }];
    const calls = [
      store.set("a", TEXT, { tags }),
      store.create("a", TEXT).catch(({ code }) => code),
      store.create("b", TEXT),
      store.get("a"),
      store.listKeys(options),
      store.delete("b"),
    ];
    tags.kind = "changed";
    Object.assign(options, { owner: "changed", tags: { kind: "changed" }, limit: 1 });
    void loading.then(() => create("latest"));
    expect([sent, loads()]).toEqual([[], 1]);
    finish();
    const [set, conflict, , item, list, isDeleted] = await Promise.all(calls);
    expect(conflict).toBe("conflict");
    expect(item).toEqual({ key: "a", text: TEXT, tags: { kind: "first" }, ...Object(set) });
    expect(list).toEqual({ keys: [expect.objectContaining({ key: "a" })] });
    expect(isDeleted).toBe(true);
    await Promise.all(late);
    expect((await store.listKeys()).keys.map(({ key }) => key)).toEqual(["a", "late", "latest"]);
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
    expect(await store.get("a")).toBeUndefined();
    expect(sent.filter((command) => command === "evalsha")).toHaveLength(1);
  });

  test("time counts, and what took too long is not sent", async () => {
    const { finish } = holdLoading();
    const { store, sent, keyPrefix } = openRecorded({ timeoutMs: 50 });
    expect(new Set(await Promise.all(everyCall(store).map(codeOf)))).toEqual(new Set(["timeout"]));
    finish();
    expect(await openStore({ keyPrefix }).store.get("a")).toBeUndefined();
    expect(sent).toEqual([]);
  });

  test("no connection is opened for what took too long", async () => {
    const { finish, loading } = holdLoading();
    let attempts = 0;
    const connect = async () => {
      attempts += 1;
    };
    const client: RedisClient = { call: async () => [], status: "wait", connect, on: () => {}, off: () => {} };
    const store = new RedisStateStore({ client }, { timeoutMs: 20 });
    expect(await codeOf(store.get("a"))).toBe("timeout");
    finish();
    await loading;
    await new Promise((resolve) => setImmediate(resolve));
    expect(attempts).toBe(0);
    expect(await codeOf(store.get("a"))).toBe("timeout");
    expect(attempts).toBe(1);
  });

  test("close does not wait for it when nothing is under way; later calls are refused", async () => {
    const { finish } = holdLoading();
    const { store } = openStore();
    await store.close();
    const call = rejection(store.get("a"));
    finish();
    expect(await call).toMatchObject({ code: "configuration", message: expect.stringContaining("closed") });
    expect(await codeOf(store.set("a", TEXT))).toBe("configuration");
  });

  test("close lets the calls before it be carried out, and is over only then", async () => {
    await openStore().store.set("a", TEXT);
    const { finish } = holdLoading();
    const { store, keyPrefix } = openStore();
    const set = store.set("a", TEXT);
    const closed = store.close();
    finish();
    await closed;
    expect((await openStore({ keyPrefix }).store.get("a"))?.text).toBe(TEXT);
    expect(await set).toHaveProperty("etag");
    expect(await codeOf(store.get("a"))).toBe("configuration");
  });

  test("a call behind close is refused, also while those before it wait", async () => {
    const { finish } = holdLoading();
    const { store } = openStore();
    const before = store.set("a", TEXT);
    const closed = store.close();
    const behind = rejection(store.set("b", TEXT));
    finish();
    expect(await behind).toMatchObject({ code: "configuration", message: expect.stringContaining("closed") });
    await Promise.all([before, closed]);
  });

  test("close waits no longer than the calls before it may take", async () => {
    holdLoading();
    const { store } = openStore({ timeoutMs: 50 });
    const call = codeOf(store.get("a"));
    await store.close();
    expect(await call).toBe("timeout");
  });
});

describe("once it is loaded", () => {
  test("a call is sent in the turn in which it is made", async () => {
    const { store, sent } = openRecorded();
    await store.get("a");
    sent.length = 0;
    const calls = [store.set("a", TEXT), store.get("a")];
    expect(sent).toEqual(["evalsha", "evalsha"]);
    await Promise.all(calls);
  });

  test("it is not loaded again", async () => {
    const { finish, loads } = holdLoading();
    const { store } = openStore();
    finish();
    await store.get("a");
    await store.set("a", TEXT);
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
        provider: "state-redis",
        message: expect.stringMatching(/^\[state-redis\] \w+: a part of the package could not be loaded$/),
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
    expect(await codeOf(store.set("a", TEXT))).toBe("unavailable");
    expect(await codeOf(store.set("a", TEXT))).toBe("unavailable");
    isBroken = false;
    await store.set("a", TEXT);
    expect((await store.get("a"))?.text).toBe(TEXT);
  });

  test("close ends all the same, and the store stays closed", async () => {
    let isBroken = true;
    engineSource.load = () => (isBroken ? Promise.reject(new Error("no such file")) : fromPackage());
    const { store } = openStore();
    const call = codeOf(store.get("a"));
    await store.close();
    expect(await call).toBe("unavailable");
    isBroken = false;
    expect(await rejection(store.get("a"))).toMatchObject({ message: expect.stringContaining("closed") });
  });
});
