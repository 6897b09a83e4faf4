import { Cluster } from "ioredis";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { RedisHistoryStore } from "../src/index.ts";
import {
  codeOf,
  conversation,
  keysBelow,
  openClient,
  openStore,
  ownServer,
  recordsOf,
  rejection,
} from "./support/redis.ts";
import { freshPrefix } from "./support/stores.ts";

const KEY = conversation("s");

describe("the database", () => {
  test("of the address is the one that is used", async () => {
    const { store, client, keyPrefix } = openStore({ url: `${inject("redisUrl")}/3` });
    await store.append(KEY, recordsOf("1"));
    expect(await keysBelow(client, keyPrefix)).toHaveLength(3);
    expect(await keysBelow(openClient(), keyPrefix)).toEqual([]);
    await store.clear(KEY);
  });

  test("that the server does not have is refused, instead of writing to another one", async () => {
    const keyPrefix = freshPrefix();
    const store = new RedisHistoryStore({ url: `${inject("redisUrl")}/9999` }, { keyPrefix });
    onTestFinished(() => store.close());
    expect(await codeOf(store.append(KEY, recordsOf("1")))).toBe("configuration");
    expect(await codeOf(store.read(KEY))).toBe("configuration");
    expect(await keysBelow(openClient(), keyPrefix)).toEqual([]);
  });
});

describe("a server that refuses", () => {
  test("writes for want of memory keeps what it has, and lets it be read and cleared", async () => {
    const { store, client, keyPrefix } = await ownServer({}, ["--maxmemory-policy", "noeviction"]);
    await store.append(KEY, recordsOf("1", "2"));
    await client.config("SET", "maxmemory", "1");
    for (const call of [
      () => store.append(KEY, recordsOf("3")),
      () => store.append(conversation("new"), recordsOf("1")),
      () => store.replace(KEY, { fromId: "1", throughId: "1" }, recordsOf("x")),
    ]) {
      expect(await rejection(call())).toMatchObject({ code: "unavailable", retryable: true });
    }
    expect((await store.read(KEY, { last: 5, withFirst: true })).records).toEqual(recordsOf("1", "2"));
    expect((await store.list({ owner: "alice" })).items).toHaveLength(1);
    await store.clear(KEY);
    expect(await keysBelow(client, keyPrefix)).toEqual([]);
    await client.config("SET", "maxmemory", "0");
    expect((await store.append(KEY, recordsOf("3"))).appended).toBe(1);
  });

  test("writes because it is a replica is used again when it is none", async () => {
    const { store, client } = await ownServer();
    await store.append(KEY, recordsOf("1"));
    await client.replicaof("127.0.0.1", 1);
    expect(await rejection(store.append(KEY, recordsOf("2")))).toMatchObject({ code: "unavailable", retryable: true });
    expect(await codeOf(store.clear(KEY))).toBe("unavailable");
    expect((await store.read(KEY)).records).toEqual(recordsOf("1"));
    expect((await store.list({ owner: "alice" })).items).toHaveLength(1);
    // The name of a master may lead elsewhere by now, so the store connects anew.
    const received = async () => Number(/total_connections_received:(\d+)/.exec(await client.info("stats"))?.[1]);
    const before = await received();
    expect(await codeOf(store.append(KEY, recordsOf("2")))).toBe("unavailable");
    await store.read(KEY);
    expect(await received()).toBe(before + 1);
    await client.replicaof("NO", "ONE");
    await store.append(KEY, recordsOf("2"));
    expect((await store.read(KEY)).records).toEqual(recordsOf("1", "2"));
  });

  test("writes for want of replicas has written nothing", async () => {
    const { store, client, keyPrefix } = await ownServer();
    await client.config("SET", "min-replicas-to-write", "1");
    expect(await rejection(store.append(KEY, recordsOf("1")))).toMatchObject({ code: "unavailable", retryable: true });
    expect(await keysBelow(client, keyPrefix)).toEqual([]);
  });

  test("everything while it loads its data is used again afterwards", async () => {
    const args = ["--enable-debug-command", "yes", "--loading-process-events-interval-bytes", "1024"];
    const { store, client } = await ownServer({ timeoutMs: 20_000 }, args);
    for (let index = 0; index < 20; index += 1) {
      await store.append(conversation(`s${index}`), recordsOf("1", "2"));
    }
    await client.config("SET", "key-load-delay", "10000");
    const reloading = client.call("debug", ["reload"]);
    const errors: unknown[] = [];
    let isOver = false;
    const reloaded = reloading.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      const calls = [store.append(KEY, recordsOf("1")), store.read(conversation("s1")), store.list({ owner: "alice" })];
      errors.push(
        ...(await Promise.all(
          calls.map((call) =>
            call.then(
              () => undefined,
              (error: unknown) => error,
            ),
          ),
        )),
      );
    }
    await reloaded;
    const told = errors.filter((error) => error !== undefined);
    expect(told.length).toBeGreaterThan(0);
    for (const error of told) {
      expect(error).toMatchObject({ code: "unavailable", retryable: true });
      expect(String(error)).toContain("LOADING");
    }
    await store.append(KEY, recordsOf("1"));
    expect((await store.list({ owner: "alice" })).items).toHaveLength(21);
  });

  test("because it is one node of a cluster asks for a cluster client", async () => {
    const [url = ""] = inject("redisClusterUrls");
    const store = new RedisHistoryStore({ url }, { keyPrefix: freshPrefix(), ttlSeconds: 60 });
    onTestFinished(() => store.close());
    const calls = Array.from({ length: 30 }, (_, index) => store.append(conversation(`s${index}`), recordsOf("1")));
    const codes = await Promise.all(
      calls.map((call) =>
        call.then(
          () => "ok",
          ({ code }) => code,
        ),
      ),
    );
    expect([...new Set(codes)].sort()).toEqual(["configuration", "ok"]);
    expect(await codeOf(store.list({ allOwners: true }))).toBe("configuration");
  });

  test("to keep a connection after it forgot its scripts is given them again", async () => {
    const { store, client } = await ownServer();
    const calls = [
      () => store.append(KEY, recordsOf("1", "2")),
      () => store.read(KEY, { last: 1, withFirst: true }),
      () => store.replace(KEY, { fromId: "1", throughId: "1" }, recordsOf("3")),
      () => store.list({ owner: "alice" }),
      () => store.clear(KEY),
    ];
    for (const call of calls) {
      await client.script("FLUSH");
      await call();
    }
  });
});

describe("a client that gathers commands into pipelines", () => {
  test.each(["node", "cluster"] as const)("works as any other (%s)", async (kind) => {
    const options = { enableAutoPipelining: true };
    const nodes = inject("redisClusterUrls").map((url) => ({ host: "127.0.0.1", port: Number(new URL(url).port) }));
    const client = kind === "node" ? openClient(undefined, options) : new Cluster(nodes, options);
    onTestFinished(() => client.disconnect());
    const store = new RedisHistoryStore({ client }, { keyPrefix: freshPrefix() });
    const keys = Array.from({ length: 20 }, (_, index) => conversation(`s${index}`));
    await Promise.all(keys.map((key) => store.append(key, recordsOf("1", "2"))));
    const again = await Promise.all(keys.map((key) => store.append(key, recordsOf("1", "2"))));
    expect(new Set(again.map(({ appended }) => appended))).toEqual(new Set([0]));
    const pages = await Promise.all(keys.map((key) => store.read(key)));
    expect(pages.map(({ records }) => records)).toEqual(keys.map(() => recordsOf("1", "2")));
  });

  test("and puts a prefix of its own before every key keeps to it", async () => {
    const keyPrefix = freshPrefix();
    const client = openClient(undefined, { keyPrefix: `${keyPrefix}:app:` });
    const store = new RedisHistoryStore({ client }, { keyPrefix: "h", ttlSeconds: 60 });
    await store.append(KEY, recordsOf("1", "2"));
    expect((await store.list({ owner: "alice" })).items.map(({ key }) => key)).toEqual([KEY]);
    const keys = await keysBelow(openClient(), keyPrefix);
    expect(keys.every((key) => key.startsWith(`${keyPrefix}:app:h:1:`))).toBe(true);
    await store.clear(KEY);
    expect(await keysBelow(openClient(), keyPrefix)).toEqual([]);
  });
});

describe("a client that is none of ioredis", () => {
  test("works with nothing but call", async () => {
    const redis = openClient();
    const store = new RedisHistoryStore(
      { client: { call: (command, args) => redis.call(command, args) } },
      { keyPrefix: freshPrefix() },
    );
    const { version } = await store.append(KEY, recordsOf("1"));
    expect(await store.read(KEY)).toEqual({ records: recordsOf("1"), version });
  });

  test.each([null, 7, {}, "text", [1], [null]])("is refused when it answers %j", async (answer) => {
    const store = new RedisHistoryStore({ client: { call: async () => answer } });
    expect(await codeOf(store.read(KEY))).toBe("unsupported");
    expect(await codeOf(store.list({ allOwners: true }))).toBe("unsupported");
  });

  test("is refused when its call gives no promise, or throws", async () => {
    const calls = {
      none: () => undefined,
      text: () => "OK",
      throws: () => {
        throw new TypeError("no");
      },
    };
    for (const call of Object.values(calls)) {
      const store: unknown = Reflect.construct(RedisHistoryStore, [{ client: { call } }]);
      expect(store).toBeInstanceOf(RedisHistoryStore);
      if (store instanceof RedisHistoryStore) {
        expect(await codeOf(store.read(KEY))).toBe("configuration");
        expect(await codeOf(store.append(KEY, recordsOf("1")))).toBe("configuration");
        expect(await codeOf(store.clear(KEY))).toBe("configuration");
      }
    }
  });

  test.each([null, {}, "text", [1], [null]])("is refused when a write is answered by %j", async (answer) => {
    const store = new RedisHistoryStore({ client: { call: async () => answer } });
    expect(await codeOf(store.append(KEY, recordsOf("1")))).toBe("unsupported");
    expect(await codeOf(store.replace(KEY, { fromId: "1", throughId: "1" }, []))).toBe("unsupported");
  });
});
