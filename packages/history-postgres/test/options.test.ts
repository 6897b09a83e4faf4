import { isAgentFrameworkError } from "@agentfw/core";
import { Pool } from "pg";
import { describe, expect, test } from "vitest";
import { PostgresHistoryStore } from "../src/index.ts";
import { conversation, rejection } from "./support/conversation.ts";

const CONNECTION = { connectionString: "postgres://user:secret@localhost:1/db" };

function refusal(...given: unknown[]): string {
  try {
    Reflect.construct(PostgresHistoryStore, given);
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
    expect(new PostgresHistoryStore(connection).contractVersion).toBe(1);
  });
});

describe("options", () => {
  test.each([
    [null, "options"],
    [[], "options"],
    ["schema", "options"],
    [{ table: "x" }, "table"],
    [{ maxRecords: 5 }, "maxRecords"],
    [{ schema: "" }, "schema"],
    [{ schema: 5 }, "schema"],
    [{ schema: "a\0b" }, "schema"],
    [{ schema: "\ud83d" }, "schema"],
    [{ schema: "x".repeat(64) }, "schema"],
    [{ autoMigrate: "no" }, "autoMigrate"],
    [{ prepare: 1 }, "prepare"],
    [{ partitions: 0 }, "partitions"],
    [{ partitions: 257 }, "partitions"],
    [{ ttlSeconds: 0 }, "ttlSeconds"],
    [{ ttlSeconds: Number.NaN }, "ttlSeconds"],
    [{ ttlSeconds: "60" }, "ttlSeconds"],
    [{ ttlSeconds: 0.0009 }, "ttlSeconds"],
    [{ ttlSeconds: 3_153_600_001 }, "ttlSeconds"],
    [{ maxRecordBytes: 0 }, "maxRecordBytes"],
    [{ maxRecordBytes: 268_435_457 }, "maxRecordBytes"],
    [{ timeoutMs: 0 }, "timeoutMs"],
    [{ timeoutMs: Number.POSITIVE_INFINITY }, "timeoutMs"],
  ])("%o are refused by the name of what is wrong", (options, field) => {
    expect(refusal(CONNECTION, options).startsWith(`${field}: `)).toBe(true);
  });

  test("that are undefined are the defaults", () => {
    const names = ["schema", "autoMigrate", "partitions", "ttlSeconds", "maxRecordBytes", "prepare", "timeoutMs"];
    const options = Object.fromEntries(names.map((name) => [name, undefined]));
    const store = new PostgresHistoryStore(CONNECTION, options);
    expect(store.capabilities).toEqual({
      dedupe: "all",
      processes: "many",
      conditionalAppend: true,
      replace: true,
      list: true,
      ttl: true,
      maxRecords: false,
      maxRecordBytes: 16_777_216,
    });
  });

  test("a client without a pool is for one process", () => {
    const store = new PostgresHistoryStore({ client: { query: async () => ({ rows: [] }) } });
    expect(store.capabilities.processes).toBe("one");
  });
});

describe("arguments of single calls", () => {
  const store = new PostgresHistoryStore(CONNECTION);
  const range = { fromId: "a", throughId: "b" };
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
    ["read", [conversation(), { withFirst: "yes" }], "withFirst"],
    ["read", [conversation(), { withFirst: null }], "withFirst"],
    ["append", [conversation(), [], { ifVersion: 5 }], "ifVersion"],
    ["replace", [conversation(), null, []], "range"],
    ["replace", [conversation(), { ...range, fromId: "" }, []], "range.fromId"],
    ["replace", [conversation(), { ...range, throughId: 5 }, []], "range.throughId"],
    ["list", [{ owner: "a" }, { cursor: "5" }], "cursor"],
    ["list", [{ owner: "a" }, { cursor: 5 }], "cursor"],
  ] as const)("%s refuses %o before anything is sent", async (method, given, field) => {
    const error = await rejection(Reflect.apply(store[method], store, given));
    expect(error.code).toBe("configuration");
    expect(error.message.startsWith(`${field}: `)).toBe(true);
  });

  test("ids that no index can hold, and too many records, are too large", async () => {
    const long = store.append(conversation(), [{ id: "é".repeat(513), data: "1" }]);
    expect(await rejection(long)).toMatchObject({ code: "too_large" });
    const many = Array.from({ length: 100_001 }, (_, index) => ({ id: String(index), data: "1" }));
    expect(await rejection(store.append(conversation(), many))).toMatchObject({ code: "too_large" });
  });
});
