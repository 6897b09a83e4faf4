import { Cluster } from "ioredis";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { RedisStateStore } from "../src/index.ts";
import { DELETE, PUT } from "../src/scripts.ts";
import { codeOf, keysBelow, openClient, openStore, ownServer, rejection } from "./support/redis.ts";
import { freshPrefix } from "./support/stores.ts";

const TEXT = '{"a":1}';

/** Every command that a script calls which writes. */
const CALLS = [PUT, DELETE].flatMap(({ text }) => [...text.matchAll(/\bp?call\('([A-Z]+)'/g)]);
const COMMANDS = [...new Set(CALLS.map(([, command = ""]) => command.toLowerCase()))];

function withUser(user: string, password: string): string {
  const url = new URL(inject("securedRedisUrl"));
  [url.username, url.password] = [user, encodeURIComponent(password)];
  return url.href;
}

describe("credentials", () => {
  test("in the address are used, whatever characters they hold", async () => {
    const { store } = openStore({ url: inject("securedRedisUrl") });
    await store.set("a", TEXT);
    expect((await store.get("a"))?.text).toBe(TEXT);
  });

  test("that the server refuses are unauthorized, at once, for reads and writes", async () => {
    for (const url of [withUser("default", "wrong"), withUser("nobody", "x"), withUser("", "")]) {
      const store = new RedisStateStore({ url }, { timeoutMs: 60_000 });
      onTestFinished(() => store.close());
      const error = await rejection(store.set("a", TEXT));
      expect(error).toMatchObject({ code: "unauthorized", retryable: false });
      expect(String(error)).not.toMatch(/wrong|redis:/);
      expect(await codeOf(store.get("a"))).toBe("unauthorized");
    }
  });

  test("of a client that was passed in are told the same way", async () => {
    const client = openClient(withUser("default", "wrong"), { lazyConnect: true });
    const store = new RedisStateStore({ client }, { timeoutMs: 60_000 });
    expect(await codeOf(store.set("a", TEXT))).toBe("unauthorized");
    expect(await codeOf(store.get("a"))).toBe("unauthorized");
  });

  test.each([
    ["-zadd", "+@all"],
    ["-set", "+@all"],
    ["-hset", "+@all"],
    ["-hdel", "+@all"],
    ["-zrem", "+@all"],
    ["-evalsha", "+@all"],
    ["-pexpireat", "+@all"],
  ])("of a user with %s write nothing", async (rule, all) => {
    const admin = openClient(inject("securedRedisUrl"));
    const keyPrefix = freshPrefix();
    const user = `user${rule}-${keyPrefix.replace(/\W/g, "")}`;
    await admin.call("acl", ["setuser", user, "on", ">secret", "~*", all, rule]);
    onTestFinished(async () => {
      await admin.call("acl", ["deluser", user]);
    });
    const store = new RedisStateStore({ url: withUser(user, "secret") }, { keyPrefix, ttlSeconds: 60 });
    onTestFinished(() => store.close());
    expect(await codeOf(store.create("a", TEXT, { tags: { a: "b" } }))).toBe("unauthorized");
    expect(await keysBelow(admin, keyPrefix)).toEqual([]);
  });

  test.each(COMMANDS)("of a user without %s do each write whole or not at all", async (command) => {
    const admin = openClient(inject("securedRedisUrl"));
    const keyPrefix = freshPrefix();
    await admin.call("acl", ["setuser", keyPrefix, "on", ">secret", "~*", "+@all", `-${command}`]);
    onTestFinished(async () => {
      await admin.call("acl", ["deluser", keyPrefix]);
    });
    const writes: Record<string, (store: RedisStateStore) => Promise<unknown>> = {
      create: (store) => store.create("new", TEXT, { tags: { a: "b" } }),
      set: (store) => store.set("a", '{"a":2}', { tags: { a: "b" } }),
      "set of other tags": (store) => store.set("a", TEXT, { tags: { a: "c" } }),
      delete: (store) => store.delete("a"),
    };
    for (const ttlSeconds of [undefined, 60]) {
      const allowed = openStore({ keyPrefix, ttlSeconds, url: inject("securedRedisUrl") }).store;
      const denied = openStore({ keyPrefix, ttlSeconds, url: withUser(keyPrefix, "secret") }).store;
      for (const [name, write] of Object.entries(writes)) {
        for (const { key } of (await allowed.listKeys()).keys) {
          await allowed.delete(key);
        }
        await allowed.create("a", TEXT, { tags: { a: "b" } });
        const stored = async () => [
          await allowed.get("a"),
          (await allowed.listKeys()).keys,
          (await allowed.listKeys({ tags: { a: "b" } })).keys,
        ];
        const before = await stored();
        const outcome = await write(denied).then(
          () => "stored",
          ({ code }) => code,
        );
        if (outcome === "stored") {
          expect(await stored(), name).not.toEqual(before);
        } else {
          expect([outcome, await stored()], name).toEqual(["unauthorized", before]);
        }
      }
    }
  });

  test("of a user who may touch only the store's keys are enough", async () => {
    const admin = openClient(inject("securedRedisUrl"));
    const keyPrefix = freshPrefix();
    const commands = "evalsha eval get set unlink strlen hget hset hdel hlen hmget time pttl pexpireat persist".split(
      " ",
    );
    const sorted =
      "zadd zrem zcard zrevrange zrangebyscore zrevrangebyscore zrangebylex zrevrangebylex zlexcount".split(" ");
    const rules = [...commands, ...sorted].map((command) => `+${command}`);
    await admin.call("acl", ["setuser", keyPrefix, "on", ">secret", `~${keyPrefix}:1:*`, ...rules]);
    onTestFinished(async () => {
      await admin.call("acl", ["deluser", keyPrefix]);
    });
    const store = new RedisStateStore({ url: withUser(keyPrefix, "secret") }, { keyPrefix, ttlSeconds: 60 });
    onTestFinished(() => store.close());
    const { etag } = await store.create("a", TEXT, { tags: { a: "b" } });
    await store.set("a", TEXT, { ifMatch: etag, tags: { a: "c" } });
    const forever = new RedisStateStore({ url: withUser(keyPrefix, "secret") }, { keyPrefix });
    onTestFinished(() => forever.close());
    await forever.set("b", TEXT);
    for (const order of ["asc", "desc"] as const) {
      expect((await store.listKeys({ order })).keys).toHaveLength(2);
      expect((await store.listKeys({ order, tags: { a: "c" } })).keys).toHaveLength(1);
    }
    expect((await store.get("a"))?.text).toBe(TEXT);
    expect(await store.delete("a")).toBe(true);
    const elsewhere = new RedisStateStore({ url: withUser(keyPrefix, "secret") });
    onTestFinished(() => elsewhere.close());
    expect(await codeOf(elsewhere.set("a", TEXT))).toBe("unauthorized");
  });
});

describe("the database", () => {
  test("of the address is the one that is used", async () => {
    const { store, client, keyPrefix } = openStore({ url: `${inject("redisUrl")}/3` });
    await store.set("a", TEXT);
    expect(await keysBelow(client, keyPrefix)).toHaveLength(3);
    expect(await keysBelow(openClient(), keyPrefix)).toEqual([]);
    await store.delete("a");
  });

  test("that the server does not have is refused, instead of writing to another one", async () => {
    const keyPrefix = freshPrefix();
    const store = new RedisStateStore({ url: `${inject("redisUrl")}/9999` }, { keyPrefix });
    onTestFinished(() => store.close());
    expect(await codeOf(store.set("a", TEXT))).toBe("configuration");
    expect(await codeOf(store.get("a"))).toBe("configuration");
    expect(await keysBelow(openClient(), keyPrefix)).toEqual([]);
  });
});

describe("a server that refuses", () => {
  test("writes for want of memory keeps what it has, and lets it be read and deleted", async () => {
    const { store, client, keyPrefix } = await ownServer();
    const { etag } = await store.set("a", TEXT, { tags: { a: "b" } });
    await client.config("SET", "maxmemory", "1");
    for (const call of [
      () => store.set("a", '{"a":2}', { ifMatch: etag }),
      () => store.set("b", TEXT),
      () => store.create("c", TEXT, { tags: { a: "b" } }),
    ]) {
      expect(await rejection(call())).toMatchObject({ code: "unavailable", retryable: true });
    }
    expect(await store.get("a")).toMatchObject({ text: TEXT, etag });
    expect((await store.listKeys()).keys).toHaveLength(1);
    expect(await store.delete("a")).toBe(true);
    expect(await keysBelow(client, keyPrefix)).toEqual([]);
    await client.config("SET", "maxmemory", "0");
    await store.set("b", TEXT);
  });

  test("writes because it is a replica is used again when it is none", async () => {
    const { store, client } = await ownServer();
    await store.set("a", TEXT);
    await client.replicaof("127.0.0.1", 1);
    expect(await rejection(store.set("a", TEXT))).toMatchObject({ code: "unavailable", retryable: true });
    expect(await codeOf(store.delete("a"))).toBe("unavailable");
    await client.replicaof("NO", "ONE");
    await store.set("a", '{"a":2}');
    expect((await store.get("a"))?.text).toBe('{"a":2}');
  });

  test("because it is one node of a cluster asks for a cluster client", async () => {
    const [url = ""] = inject("redisClusterUrls");
    const store = new RedisStateStore({ url }, { keyPrefix: freshPrefix(), ttlSeconds: 60 });
    onTestFinished(() => store.close());
    const owners = Array.from({ length: 30 }, (_, index) => `owner-${index}`);
    const codes = await Promise.all(
      owners.map((owner) =>
        store.set("a", TEXT, { owner }).then(
          () => "ok",
          ({ code }) => code,
        ),
      ),
    );
    expect([...new Set(codes)].sort()).toEqual(["configuration", "ok"]);
  });

  test("to keep a connection after it forgot its scripts is given them again", async () => {
    const { store, client } = await ownServer();
    const { etag } = await store.create("a", TEXT);
    await client.script("FLUSH");
    await store.set("a", TEXT, { ifMatch: etag });
    await client.script("FLUSH");
    expect(await codeOf(store.create("a", TEXT))).toBe("conflict");
    await client.script("FLUSH");
    expect((await store.listKeys()).keys).toHaveLength(1);
    expect(await store.delete("a")).toBe(true);
  });
});

describe("a client that gathers commands into pipelines", () => {
  test.each(["node", "cluster"] as const)("works as any other (%s)", async (kind) => {
    const options = { enableAutoPipelining: true };
    const nodes = inject("redisClusterUrls").map((url) => ({ host: "127.0.0.1", port: Number(new URL(url).port) }));
    const client = kind === "node" ? openClient(undefined, options) : new Cluster(nodes, options);
    onTestFinished(() => client.disconnect());
    const store = new RedisStateStore({ client }, { keyPrefix: freshPrefix() });
    const owners = Array.from({ length: 20 }, (_, index) => `owner-${index}`);
    await Promise.all(owners.map((owner) => store.create("a", TEXT, { owner })));
    const codes = await Promise.all(owners.map((owner) => codeOf(store.create("a", TEXT, { owner }))));
    expect(new Set(codes)).toEqual(new Set(["conflict"]));
    const items = await Promise.all(owners.map((owner) => store.get("a", { owner })));
    expect(items.map((item) => item?.text)).toEqual(owners.map(() => TEXT));
  });
});

describe("a client that is none of ioredis", () => {
  test("works with nothing but call", async () => {
    const redis = openClient();
    const store = new RedisStateStore(
      { client: { call: (command, args) => redis.call(command, args) } },
      { keyPrefix: freshPrefix() },
    );
    const { etag } = await store.create("a", TEXT);
    expect(await store.get("a")).toEqual({ key: "a", text: TEXT, etag, tags: {} });
  });

  test.each([undefined, null, "OK"])("is refused when its call gives %j and no promise", async (answer) => {
    const store: unknown = Reflect.construct(RedisStateStore, [{ client: { call: () => answer } }]);
    expect(store).toBeInstanceOf(RedisStateStore);
    if (store instanceof RedisStateStore) {
      expect(await codeOf(store.get("a"))).toBe("configuration");
      expect(await codeOf(store.set("a", TEXT))).toBe("configuration");
      expect(await codeOf(store.listKeys())).toBe("configuration");
    }
  });

  test.each([null, "OK", 7, {}, [1, 2], ["item", null]])("is refused when it answers %j", async (answer) => {
    const store = new RedisStateStore({ client: { call: async () => answer } });
    expect(await codeOf(store.get("a"))).toBe("unsupported");
    expect(await codeOf(store.set("a", TEXT))).toBe("unsupported");
  });
});
