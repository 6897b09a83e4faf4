import { isAgentFrameworkError } from "@agentfw/core";
import { Pool } from "pg";
import { describe, expect, test } from "vitest";
import { PostgresStateStore } from "../src/index.ts";
import { rejection } from "./support/postgres.ts";

const CONNECTION = { connectionString: "postgres://user:secret@localhost:1/db" };

function refusal(...given: unknown[]): string {
  try {
    Reflect.construct(PostgresStateStore, given);
  } catch (error) {
    if (isAgentFrameworkError(error, "configuration")) {
      return error.message;
    }
    throw error;
  }
  throw new Error("it was accepted");
}

describe("where the database is", () => {
  test.each([
    [undefined, "connection"],
    [null, "connection"],
    ["postgres://localhost", "connection"],
    [{}, "connection"],
    [{ ...CONNECTION, pool: { connect: () => {} } }, "connection"],
    [{ pool: { connect: () => {} }, client: { query: () => {} } }, "connection"],
    [{ pool: {} }, "pool"],
    [{ pool: null }, "pool"],
    [{ client: { connect: () => {} } }, "client"],
    [{ client: 5 }, "client"],
    [{ client: { query: async () => ({ rows: [] }), totalCount: 0 } }, "client"],
    [{ connectionString: "" }, "connectionString"],
    [{ connectionString: 5 }, "connectionString"],
    [{ connectionString: "mysql://user:secret@localhost/db" }, "connectionString"],
    [{ connectionString: "host=localhost password=secret" }, "connectionString"],
    [{ ...CONNECTION, maxConnections: 0 }, "maxConnections"],
    [{ ...CONNECTION, maxConnections: 1.5 }, "maxConnections"],
    [{ pool: { connect: () => {} }, maxConnections: 5 }, "maxConnections"],
    [{ client: { query: () => {} }, maxConnections: 5 }, "maxConnections"],
    [{ ...CONNECTION, ssl: { ca: "secret" } }, "ssl"],
    [{ ...CONNECTION, schema: "x" }, "schema"],
    [new Pool(), "connection"],
  ])("%o is refused by the name of what is wrong", (connection, field) => {
    const message = refusal(connection);
    expect(message.startsWith(`${field}: `)).toBe(true);
    expect(message).not.toContain("secret");
  });

  test.each([
    { connectionString: "postgresql://localhost/db?sslmode=require" },
    { ...CONNECTION, maxConnections: 1 },
    { pool: { connect: () => {} } },
    { client: { query: async () => ({ rows: [] }) } },
    { client: { query: async () => ({ rows: [] }) }, ssl: undefined },
  ])("%o is taken, and nothing is asked of it yet", (connection) => {
    expect(new PostgresStateStore(connection).contractVersion).toBe(1);
  });
});

describe("options", () => {
  test.each([
    [null, "options"],
    [[], "options"],
    ["schema", "options"],
    [{ table: "x" }, "table"],
    [{ keyPrefix: "x" }, "keyPrefix"],
    [{ schema: "" }, "schema"],
    [{ schema: 5 }, "schema"],
    [{ schema: "a\0b" }, "schema"],
    [{ schema: "\ud83d" }, "schema"],
    [{ schema: "x".repeat(64) }, "schema"],
    [{ autoMigrate: "no" }, "autoMigrate"],
    [{ prepare: 1 }, "prepare"],
    [{ partitions: 4 }, "partitions"],
    [{ ttlSeconds: 0 }, "ttlSeconds"],
    [{ ttlSeconds: Number.NaN }, "ttlSeconds"],
    [{ ttlSeconds: "60" }, "ttlSeconds"],
    [{ ttlSeconds: 0.0009 }, "ttlSeconds"],
    [{ ttlSeconds: 3_153_600_001 }, "ttlSeconds"],
    [{ maxValueBytes: 0 }, "maxValueBytes"],
    [{ maxValueBytes: 268_435_457 }, "maxValueBytes"],
    [{ timeoutMs: 0 }, "timeoutMs"],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, "timeoutMs"],
  ])("%o are refused by the name of what is wrong", (options, field) => {
    expect(refusal(CONNECTION, options).startsWith(`${field}: `)).toBe(true);
  });

  test("that are undefined are the defaults", () => {
    const names = ["schema", "autoMigrate", "ttlSeconds", "maxValueBytes", "prepare", "timeoutMs"];
    const options = Object.fromEntries(names.map((name) => [name, undefined]));
    const store = new PostgresStateStore(CONNECTION, options);
    expect(store.capabilities).toEqual({ maxValueBytes: 8_388_608, ttl: true, isolation: true });
  });
});

describe("arguments of single calls", () => {
  const store = new PostgresStateStore(CONNECTION);
  test.each([
    ["erase", [undefined], "filter"],
    ["erase", [{}], "filter.owner"],
    ["erase", [{ owner: 5 }], "filter.owner"],
    ["erase", [{ owner: "a", source: "b" }], "filter.source"],
    ["erase", [{ owner: "a" }, 5], "options"],
    ["deleteExpired", [{ batchSize: 0 }], "batchSize"],
    ["deleteExpired", [{ batchSize: 100_001 }], "batchSize"],
    ["deleteExpired", [null], "options"],
    ["verifySchema", [{ signal: 5 }], "signal"],
    ["get", ["a", { owner: 5 }], "owner"],
    ["get", [5], "key"],
    ["set", ["a", "{}", { ifMatch: 5 }], "ifMatch"],
    ["set", ["a", "{}", { ifMatch: null }], "ifMatch"],
    ["set", ["a", '{"a":"\ud83d"}'], "text"],
    ["create", ["a", "{}", { tags: [] }], "tags"],
    ["create", ["a", "{}", { tags: null }], "tags"],
    ["create", ["a", "{}", { tags: { kind: 5 } }], "tags.kind"],
    ["create", ["a", "{}", { tags: new Map([["kind", "x"]]) }], "tags"],
    ["listKeys", [{ tags: new Map([["kind", "x"]]) }], "tags"],
    ["create", ["a", "{}", { tags: { "": "x" } }], "tags."],
    ["create", ["a", "{}", { tags: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [n, ""])) }], "tags"],
    ["delete", ["a", { ifMatch: 5 }], "ifMatch"],
    ["listKeys", [{ order: "up" }], "order"],
    ["listKeys", [{ limit: 0 }], "limit"],
    ["listKeys", [{ cursor: "x" }], "cursor"],
    ["listKeys", [{ cursor: 5 }], "cursor"],
    ["listKeys", [{ cursor: "9223372036854775807" }], "cursor"],
    ["listKeys", [{ tags: "kind" }], "tags"],
  ] as const)("%s refuses %o before anything is sent", async (method, given, field) => {
    const error = await rejection(Reflect.apply(store[method], store, given));
    expect(error.code).toBe("configuration");
    expect(error.message.startsWith(`${field}: `)).toBe(true);
  });

  test("names and tags above their limits are too large", async () => {
    const long = "\u00e9".repeat(4_097);
    for (const call of [
      () => store.get(long),
      () => store.delete("a", { owner: long }),
      () => store.create("a", "{}", { tags: { kind: "x".repeat(16_384) } }),
    ]) {
      expect(await rejection(call())).toMatchObject({ code: "too_large" });
    }
  });
});
