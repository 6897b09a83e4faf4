import { describe, expect, inject, onTestFinished, test } from "vitest";
import { APPEND } from "../src/append-script.ts";
import { RedisHistoryStore } from "../src/index.ts";
import { REPLACE } from "../src/replace-script.ts";
import { CLEAR } from "../src/write-scripts.ts";
import {
  codeOf,
  contentOf,
  conversation,
  keysBelow,
  openClient,
  openStore,
  recordsOf,
  rejection,
} from "./support/redis.ts";
import { freshPrefix } from "./support/stores.ts";

const KEY = conversation("s");

/** Every command that a script calls which writes. */
const CALLS = [APPEND, REPLACE, CLEAR].flatMap(({ text }) => [...text.matchAll(/(?:call|try)\('([A-Z]+)'/g)]);
const COMMANDS = [...new Set(CALLS.map(([, command = ""]) => command.toLowerCase()))];

function withUser(user: string, password: string): string {
  const url = new URL(inject("securedRedisUrl"));
  [url.username, url.password] = [user, encodeURIComponent(password)];
  return url.href;
}

/** Makes a user for the running test. */
async function withRules(...rules: readonly string[]) {
  const admin = openClient(inject("securedRedisUrl"));
  const keyPrefix = freshPrefix();
  await admin.call("acl", [
    "setuser",
    keyPrefix,
    "on",
    ">secret",
    ...rules.map((rule) => rule.replace("PREFIX", keyPrefix)),
  ]);
  onTestFinished(async () => {
    await admin.call("acl", ["deluser", keyPrefix]);
  });
  return { admin, keyPrefix, url: withUser(keyPrefix, "secret") };
}

describe("credentials", () => {
  test("in the address are used, whatever characters they hold", async () => {
    const { store } = openStore({ url: inject("securedRedisUrl") });
    await store.append(KEY, recordsOf("1"));
    expect((await store.read(KEY)).records).toEqual(recordsOf("1"));
  });

  test("that the server refuses are unauthorized, at once, for reads and writes", async () => {
    for (const url of [withUser("default", "wrong"), withUser("nobody", "x"), withUser("", "")]) {
      const store = new RedisHistoryStore({ url }, { timeoutMs: 60_000 });
      onTestFinished(() => store.close());
      const error = await rejection(store.append(KEY, recordsOf("1")));
      expect(error).toMatchObject({ code: "unauthorized", retryable: false });
      expect(String(error)).not.toMatch(/wrong|redis:/);
      expect(await codeOf(store.read(KEY))).toBe("unauthorized");
      expect(await codeOf(store.list({ owner: "alice" }))).toBe("unauthorized");
    }
  });

  test("of a client that was passed in are told the same way", async () => {
    const client = openClient(withUser("default", "wrong"), { lazyConnect: true });
    const store = new RedisHistoryStore({ client }, { timeoutMs: 60_000 });
    expect(await codeOf(store.append(KEY, recordsOf("1")))).toBe("unauthorized");
    expect(await codeOf(store.read(KEY))).toBe("unauthorized");
  });

  test.each(["evalsha", "smismember", "rpush", "sadd", "zadd", "unlink", "pexpire", "lpop", "srem", "time", "zcard"])(
    "of a user without %s write nothing, neither a new conversation nor to one",
    async (command) => {
      const { admin, keyPrefix, url } = await withRules("~*", "+@all", `-${command}`);
      const options = { keyPrefix, ttlSeconds: 60, maxRecords: 2 };
      const allowed = openStore({ ...options, url: inject("securedRedisUrl") }).store;
      const denied = openStore({ ...options, url }).store;
      expect(await codeOf(denied.append(KEY, recordsOf("1", "2", "3")))).toBe("unauthorized");
      expect(await keysBelow(admin, keyPrefix)).toEqual([]);

      await allowed.append(KEY, recordsOf("0", "00"));
      const before = await allowed.read(KEY);
      const outcome = await denied.append(KEY, recordsOf("1", "2")).then(
        () => "stored",
        ({ code }) => code,
      );
      const isForNewOnesOnly = command === "unlink" || command === "zcard";
      expect(outcome).toBe(isForNewOnesOnly ? "stored" : "unauthorized");
      if (outcome !== "stored") {
        expect(await allowed.read(KEY)).toEqual(before);
        // The very same call succeeds once it may: no id was remembered without its record.
        expect((await allowed.append(KEY, recordsOf("1", "2"))).appended).toBe(2);
      }
      expect((await allowed.read(KEY)).records).toEqual(recordsOf("1", "2"));
    },
  );

  test.each([["smismember"], ["rpushx"], ["pexpire"], ["sadd"], ["sadd", "ltrim"], ["pexpire", "ltrim"]])(
    "that lose %j %s while a store is at work leave no record of what fails",
    async (...commands) => {
      const { admin, keyPrefix, url } = await withRules("~*", "+@all");
      const { store } = openStore({ keyPrefix, url, ttlSeconds: 60 });
      await store.append(KEY, recordsOf("1", "2"));
      const { version } = await store.append(KEY, recordsOf("3"));
      await admin.call("acl", ["setuser", keyPrefix, ...commands.map((command) => `-${command}`)]);
      expect(await codeOf(store.append(KEY, recordsOf("4", "5")))).toBe("unauthorized");
      expect(await store.read(KEY)).toEqual({ records: recordsOf("1", "2", "3"), version });
      await admin.call("acl", ["setuser", keyPrefix, "+@all"]);
      expect(await store.append(KEY, recordsOf("4", "5"))).toMatchObject({ appended: 2 });
      expect((await store.read(KEY)).records).toEqual(recordsOf("1", "2", "3", "4", "5"));
    },
  );

  test("of a user who may neither finish an append nor trim leave no record of it", async () => {
    const { keyPrefix, url } = await withRules("~*", "+@all", "-sadd", "-ltrim");
    const { store } = openStore({ keyPrefix, url: inject("securedRedisUrl") });
    await store.append(KEY, recordsOf("1"));
    const denied = openStore({ keyPrefix, url }).store;
    expect(await codeOf(denied.append(KEY, recordsOf("2", "3")))).toBe("unauthorized");
    expect((await store.read(KEY)).records).toEqual(recordsOf("1"));
  });

  test.each(["ltrim", "lpush", "rpush", "lset", "sadd", "zadd", "pexpire", "lpop", "srem", "time", "zcard"])(
    "of a user without %s replace nothing",
    async (command) => {
      const { admin, keyPrefix, url } = await withRules("~*", "+@all", `-${command}`);
      const options = { keyPrefix, ttlSeconds: 60, maxRecords: 5 };
      const allowed = openStore({ ...options, url: inject("securedRedisUrl") }).store;
      const denied = openStore({ ...options, url }).store;
      await allowed.append(KEY, recordsOf("1", "2", "3", "4", "5"));
      const stored = async () => {
        const keys = await keysBelow(admin, keyPrefix);
        return Promise.all(keys.map((key) => admin.dumpBuffer(key)));
      };
      const before = await stored();
      for (const [fromId, throughId] of [
        ["1", "2"],
        ["2", "3"],
        ["4", "5"],
      ] as const) {
        expect(await codeOf(denied.replace(KEY, { fromId, throughId }, recordsOf("x")))).toBe("unauthorized");
      }
      expect(await stored()).toEqual(before);
    },
  );

  test.each(COMMANDS)("of a user without %s do each write whole or not at all", async (command) => {
    const { admin, keyPrefix, url } = await withRules("~*", "+@all", `-${command}`);
    const options = { keyPrefix, ttlSeconds: 60, maxRecords: 4 };
    const allowed = openStore({ ...options, url: inject("securedRedisUrl") }).store;
    const stored = async () => {
      const keys = await keysBelow(admin, keyPrefix);
      return Promise.all(keys.map(async (key) => [key, await contentOf(admin, key)]));
    };
    const writes: Record<string, (store: RedisHistoryStore) => Promise<unknown>> = {
      append: (store) => store.append(KEY, recordsOf("5")),
      "append that trims": (store) => store.append(KEY, recordsOf("4", "5", "6", "7")),
      "replace of the first": (store) => store.replace(KEY, { fromId: "1", throughId: "1" }, recordsOf("x")),
      "replace of the last": (store) => store.replace(KEY, { fromId: "3", throughId: "3" }, []),
      "replace of all": (store) => store.replace(KEY, { fromId: "1", throughId: "3" }, recordsOf("x")),
      clear: (store) => store.clear(KEY),
    };
    for (const [name, write] of Object.entries(writes)) {
      await allowed.clear(KEY);
      await allowed.append(KEY, recordsOf("1", "2", "3"));
      const before = await stored();
      // Each is the first write of its store, and so due to tell the index.
      const outcome = await write(openStore({ ...options, url }).store).then(
        () => "stored",
        ({ code }) => code,
      );
      if (outcome === "stored") {
        expect(await stored(), name).not.toEqual(before);
      } else {
        expect([outcome, await stored()], name).toEqual(["unauthorized", before]);
      }
    }
  });

  test("of a user who may not write are unauthorized for writes only", async () => {
    const { keyPrefix, url } = await withRules("~*", "+@read", "+eval", "+evalsha");
    await openStore({ keyPrefix, url: inject("securedRedisUrl") }).store.append(KEY, recordsOf("1", "2"));
    const { store } = openStore({ keyPrefix, url });
    const { older } = await store.read(KEY, { last: 1, withFirst: true });
    expect((await store.read(KEY, { last: 1, before: older })).records).toEqual(recordsOf("1"));
    expect((await store.list({ owner: "alice" })).items).toHaveLength(1);
    for (const call of [
      () => store.append(KEY, recordsOf("3")),
      () => store.replace(KEY, { fromId: "1", throughId: "2" }, recordsOf("3")),
      () => store.clear(KEY),
    ]) {
      expect(await codeOf(call())).toBe("unauthorized");
    }
    expect((await store.read(KEY)).records).toEqual(recordsOf("1", "2"));
  });

  test("of a user who may touch only the store's keys are enough", async () => {
    const commands =
      "evalsha eval lrange lindex llen exists smismember lpos rpush rpushx lpush sadd srem lpop ltrim lset unlink";
    const others = "scard zadd zrem zcard zrange zrangebylex pexpire pttl persist time rpop";
    const rules = `${commands} ${others}`.split(" ").map((command) => `+${command}`);
    const { keyPrefix, url } = await withRules("~PREFIX:1:*", ...rules);
    for (const options of [{}, { ttlSeconds: 60, maxRecords: 3 }]) {
      const { store } = openStore({ keyPrefix, url, ...options });
      await store.append(KEY, recordsOf("1", "2", "3"));
      await store.append(KEY, recordsOf("3", "4"));
      await store.append(KEY, recordsOf("5"));
      await store.replace(KEY, { fromId: "3", throughId: "4" }, recordsOf("3"));
      const { older } = await store.read(KEY, { last: 1, withFirst: true });
      await store.read(KEY, { last: 1, before: older });
      expect((await store.list({ owner: "alice" })).items).toHaveLength(1);
      await store.clear(KEY);
    }
    const { store } = openStore({ url });
    expect(await codeOf(store.append(KEY, recordsOf("1")))).toBe("unauthorized");
  });
});
