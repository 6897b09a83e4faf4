import { isAgentFrameworkError } from "@agentfw/core";
import { Cluster, Redis } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis-5";
import { describe, expect, test } from "vitest";
import { resolveConnection } from "../src/address.ts";
import { type RedisClient, RedisHistoryStore } from "../src/index.ts";
import { resolveOptions } from "../src/options.ts";

const URL_TEXT = "redis://127.0.0.1:1";

function refusal(...args: readonly unknown[]): unknown {
  try {
    Reflect.construct(RedisHistoryStore, args);
  } catch (error) {
    return error;
  }
  throw new Error("was not refused");
}

function expectRefused(error: unknown, name: string): void {
  expect(isAgentFrameworkError(error, "configuration")).toBe(true);
  expect(String(error)).toContain(name);
}

describe("options", () => {
  test("have defaults", () => {
    const limits = { ttlMs: 0, maxRecords: undefined, maxRecordBytes: 16 * 1024 * 1024 };
    const defaults = { keyPrefix: "agentfw", ...limits, timeoutMs: 5000 };
    expect(resolveOptions({})).toEqual(defaults);
    const unset = { keyPrefix: undefined, ttlSeconds: undefined, maxRecords: undefined, maxRecordBytes: undefined };
    expect(resolveOptions({ ...unset, timeoutMs: undefined })).toEqual(defaults);
  });

  test("are declared as capabilities", () => {
    const { capabilities, contractVersion } = new RedisHistoryStore({ url: URL_TEXT }, { maxRecordBytes: 9 });
    const offered = { conditionalAppend: true, replace: true, list: true, ttl: true, maxRecords: true };
    expect(capabilities).toEqual({ dedupe: "all", processes: "many", ...offered, maxRecordBytes: 9 });
    expect(contractVersion).toBe(1);
    expect(new RedisHistoryStore({ url: URL_TEXT }, { maxRecords: 50 }).capabilities.dedupe).toBe(1000);
  });

  test("a life is counted in whole milliseconds, upwards", () => {
    expect(resolveOptions({ ttlSeconds: 0.0011 }).ttlMs).toBe(2);
    expect(resolveOptions({ ttlSeconds: 30 }).ttlMs).toBe(30_000);
  });

  test.each([
    ["keyPrefix", ""],
    ["keyPrefix", 7],
    ["keyPrefix", "a{b}"],
    ["keyPrefix", "{}"],
    ["keyPrefix", "a}"],
    ["keyPrefix", "a b"],
    ["keyPrefix", "a\nb"],
    ["keyPrefix", "a\u0000"],
    ["keyPrefix", "\ud83d"],
    ["keyPrefix", "x".repeat(201)],
    ["ttlSeconds", 0],
    ["ttlSeconds", -1],
    ["ttlSeconds", Number.NaN],
    ["ttlSeconds", Number.POSITIVE_INFINITY],
    ["ttlSeconds", "60"],
    ["ttlSeconds", 3_153_600_001],
    ["maxRecords", -1],
    ["maxRecords", 2.5],
    ["maxRecords", null],
    ["maxRecordBytes", 0],
    ["maxRecordBytes", 1.5],
    ["maxRecordBytes", 268_435_457],
    ["timeoutMs", 0],
    ["timeoutMs", 2 ** 31],
    ["timeoutMs", "fast"],
    ["keyPreffix", "a"],
    ["maxValueBytes", 5],
    ["keyPrefix", null],
    ["ttlSeconds", null],
    ["timeoutMs", null],
  ])("refuse %s: %j by its name", (name, value) => {
    expectRefused(refusal({ url: URL_TEXT }, { [name]: value }), name);
  });

  test("that nobody knows are named with those that there are, and pass when they are undefined", () => {
    expect(String(refusal({ url: URL_TEXT }, { region: "eu" }))).toContain(
      "region: is none of keyPrefix, ttlSeconds, maxRecords, maxRecordBytes, timeoutMs",
    );
    expect(String(refusal({ uri: URL_TEXT }))).toContain("uri: is none of url, client");
    const nobodys = { region: undefined };
    expect(resolveOptions({ ...nobodys, keyPrefix: "a" }).keyPrefix).toBe("a");
    expect(resolveConnection({ ...nobodys, url: URL_TEXT })).toMatchObject({ port: 1 });
  });

  test("say their limits", () => {
    expect(String(refusal({ url: URL_TEXT }, { ttlSeconds: 0 }))).toContain("from 0.001 to 3153600000");
    expect(String(refusal({ url: URL_TEXT }, { maxRecordBytes: 2 ** 30 }))).toContain("at most 268435456");
  });

  test.each([null, "redis", []])("refuse %j in their place", (options) => {
    expectRefused(refusal({ url: URL_TEXT }, options), "options");
  });
});

describe("the connection", () => {
  test("is taken apart without being made", () => {
    expect(resolveConnection({ url: "rediss://app:p%40ss%2Fword@[::1]:7000/3" })).toEqual({
      host: "::1",
      port: 7000,
      username: "app",
      password: "p@ss/word",
      database: 3,
      isTls: true,
    });
    expect(resolveConnection({ url: "redis://cache.example" })).toEqual({
      host: "cache.example",
      port: 6379,
      username: "",
      password: "",
      database: 0,
      isTls: false,
    });
  });

  test("may be any client of ioredis 5 and 6, or whatever has the same call", () => {
    const options = { lazyConnect: true } as const;
    const clients: RedisClient[] = [
      new Redis(options),
      new Redis5(options),
      new Cluster([{ host: "127.0.0.1", port: 1 }], options),
      new Cluster5([{ host: "127.0.0.1", port: 1 }], options),
      { call: async () => undefined },
    ];
    for (const client of clients) {
      expect(resolveConnection({ client })).toBe(client);
      expect(new RedisHistoryStore({ client }).contractVersion).toBe(1);
    }
  });

  test.each([
    ["url", "http://host"],
    ["url", "127.0.0.1:6379"],
    ["url", "redis://"],
    ["url", ""],
    ["url", 7],
    ["url", "redis://host/zero"],
    ["url", "redis://host/0/1"],
    ["url", "redis://host?family=6"],
    ["url", "redis://host#0"],
    ["url", "redis://app:100%@host"],
    ["client", {}],
    ["client", { call: "evalsha" }],
    ["client", { call: async () => 1, on: 5 }],
    ["client", null],
    ["client", "redis://host"],
    ["uri", "redis://host"],
  ])("refuses %s: %j by its name", (name, value) => {
    expectRefused(refusal({ [name]: value }), name);
  });

  test.each([undefined, null, "redis://host", {}, { url: URL_TEXT, client: { call: async () => 1 } }])(
    "refuses %j",
    (connection) => {
      expectRefused(refusal(connection), "connection");
    },
  );

  test("never shows the address in an error", () => {
    for (const url of ["redis://app:s3cret@host/x", "redis://app:s3cret%@host", "http://app:s3cret@host"]) {
      expect(String(refusal({ url }))).not.toContain("s3cret");
    }
  });
});
