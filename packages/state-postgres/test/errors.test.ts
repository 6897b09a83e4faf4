import { AgentFrameworkError, type ErrorCode } from "@agentfw/core";
import { LeasedCalls } from "@agentfw/core/backend";
import { describe, expect, test } from "vitest";
import { failureOf, isMissing, sqlStateOf } from "../src/errors.ts";
import { rejection } from "./support/postgres.ts";

/** An error as the driver makes it of a server's answer. */
function answer(code: string, message = "some words of the server"): Error {
  return Object.assign(new Error(message), { code, severity: "ERROR" });
}

/** What a driver throws under a statement, what it means for a read, and what for a write, where that is something else. */
type Case = readonly [thrown: string, read: ErrorCode, write?: ErrorCode];

/** Each SQLSTATE with what it means for a read, and for a write. */
const STATES: readonly Case[] = [
  ["08000", "unavailable", "outcome_unknown"],
  ["08003", "unavailable", "outcome_unknown"],
  ["08006", "unavailable", "outcome_unknown"],
  ["08P01", "unavailable", "outcome_unknown"],
  ["0A000", "unavailable"],
  ["21000", "unavailable"],
  ["22021", "configuration"],
  ["22P05", "configuration"],
  ["22P02", "configuration"],
  ["23502", "configuration"],
  ["23505", "corrupt"],
  ["25006", "unavailable"],
  ["25P02", "unavailable"],
  ["25P04", "timeout"],
  ["26000", "configuration"],
  ["28000", "unauthorized"],
  ["28P01", "unauthorized"],
  ["3D000", "configuration"],
  ["3F000", "configuration"],
  ["40001", "unavailable"],
  ["40003", "outcome_unknown"],
  ["40P01", "unavailable"],
  ["42501", "unauthorized"],
  ["42703", "configuration"],
  ["42704", "configuration"],
  ["42804", "configuration"],
  ["42883", "configuration"],
  ["42939", "configuration"],
  ["42P01", "configuration"],
  ["42P05", "configuration"],
  ["42P16", "configuration"],
  ["53100", "unavailable"],
  ["53200", "unavailable"],
  ["53300", "unavailable"],
  ["53400", "unavailable"],
  ["54000", "too_large"],
  ["55P03", "unavailable"],
  ["57014", "timeout"],
  ["57P01", "unavailable", "outcome_unknown"],
  ["57P02", "unavailable", "outcome_unknown"],
  ["57P03", "unavailable", "outcome_unknown"],
  ["57P04", "configuration"],
  ["57P05", "unavailable"],
  ["58030", "unavailable"],
  ["P0001", "unavailable"],
  ["XX000", "unavailable"],
  ["XX001", "corrupt"],
  ["XX002", "corrupt"],
];

/** What drivers say that carries no SQLSTATE. */
const MESSAGES: readonly Case[] = [
  ["Connection terminated unexpectedly", "unavailable", "outcome_unknown"],
  ["Connection terminated", "unavailable", "outcome_unknown"],
  ["Connection terminated due to connection timeout", "unavailable", "outcome_unknown"],
  ["Client has encountered a connection error and is not queryable", "unavailable", "outcome_unknown"],
  ["timeout exceeded when trying to connect", "unavailable"],
  ["Cannot use a pool after calling end on the pool", "configuration"],
  ["Client was closed and is not queryable", "configuration"],
  ["PGlite is closed", "configuration"],
  ["SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string", "unauthorized"],
  ["The server does not support SSL connections", "configuration"],
  ["connect ENOENT /run/.s.PGSQL.5432", "unavailable"],
  ["ENOENT: no such file or directory, open '/run/root.crt'", "configuration"],
  ["something new", "unavailable", "outcome_unknown"],
];

const SYSTEM: readonly Case[] = [
  // A client that connects by itself may have lost a connection with the statement before.
  ["ECONNREFUSED", "unavailable", "outcome_unknown"],
  ["ENOTFOUND", "unavailable", "outcome_unknown"],
  ["EHOSTUNREACH", "unavailable", "outcome_unknown"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "configuration"],
  // Also what TLS says when it breaks in the middle.
  ["ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC", "unavailable", "outcome_unknown"],
  ["ECONNRESET", "unavailable", "outcome_unknown"],
  ["EPIPE", "unavailable", "outcome_unknown"],
  ["ETIMEDOUT", "unavailable", "outcome_unknown"],
];

function complete([thrown, read, write = read]: Case): [thrown: string, read: ErrorCode, write: ErrorCode] {
  return [thrown, read, write];
}

/** What a call rejects with under which the driver throws this. */
function errorOf(thrown: unknown, kind: "read" | "write" = "read"): Promise<AgentFrameworkError> {
  const lease = { send: () => Promise.reject(thrown), release: () => {} };
  const connection = { reconnects: true, lease: async () => lease, close: async () => {} };
  const calls = new LeasedCalls("state-postgres", connection, failureOf);
  const limits = { timeoutMs: 50, signal: undefined };
  return rejection(calls.run({ name: "set", kind, mayRepeat: false, request: undefined }, limits));
}

async function expectMapped(error: Error, read: ErrorCode, write: ErrorCode): Promise<void> {
  const mapped = await errorOf(error);
  expect(mapped.code).toBe(read);
  expect((await errorOf(error, "write")).code).toBe(write);
  expect(mapped.cause).toBe(error);
  expect(mapped.provider).toBe("state-postgres");
  expect(mapped.message).toMatch(/^\[state-postgres\] set: [a-z]/);
  expect(mapped.message).not.toContain("some words of the server");
}

describe("the server's answers", () => {
  test.each(STATES.map(complete))("SQLSTATE %s is %s", async (state, read, write) => {
    await expectMapped(answer(state), read, write);
    expect(sqlStateOf(answer(state))).toBe(state);
  });

  test("a pooler that passes no named statements on is told what to set", async () => {
    const errors = [
      answer("42P05"),
      answer("26000"),
      answer("08P01", "bind message supplies 4 parameters, but prepared statement requires 2"),
    ];
    for (const error of errors) {
      const { code, message } = await errorOf(error);
      expect(code).toBe("configuration");
      expect(message).toContain("prepare: false");
    }
  });
});

describe("what a pooler says under one code for everything", () => {
  test.each([
    "query_wait_timeout",
    "server login has been failing, try again later (server_login_retry)",
    "pgbouncer cannot connect to server",
    "no more connections allowed (max_client_conn)",
  ])("%s: no server had the statement", async (message) => {
    const error = answer("08P01", message);
    expect(failureOf(error).fate).toBe("passing");
    expect((await errorOf(error)).code).toBe("unavailable");
  });

  test.each([
    ["password authentication failed", "unauthorized"],
    ["SASL authentication failed", "unauthorized"],
    ["empty password returned by client", "unauthorized"],
    ['role "somebody" does not exist', "unauthorized"],
    ["no such user: somebody", "unauthorized"],
    ["login rejected", "unauthorized"],
    ['database "some" does not exist', "configuration"],
    ["no such database: some", "configuration"],
    ["unsupported startup parameter: options", "configuration"],
  ] as const)("%s: nobody is let in", async (message, code) => {
    const error = Object.assign(answer("08P01", message), { severity: "FATAL" });
    expect(failureOf(error).fate).toBe("refused");
    expect(failureOf(error).endsConnection).toBe(true);
    const mapped = await errorOf(error);
    expect(mapped.code).toBe(code);
    expect(mapped.message).not.toContain("some");
  });

  test.each(["server conn crashed?", "query_timeout", "something new"])("%s: a server may have it", async (message) => {
    const error = answer("08P01", message);
    expect(failureOf(error).fate).toBe("lost");
    expect((await errorOf(error)).code).toBe("unavailable");
  });
});

test("a connection is over with an error that is not the server's, or that ends it", () => {
  const fatal = Object.assign(answer("28000"), { severity: "FATAL" });
  const over = [new Error("no answer"), fatal, answer("57P01"), answer("57P05"), answer("08P01", "query_wait_timeout")];
  expect(over.map((error) => failureOf(error).endsConnection)).not.toContain(false);
  expect(["57014", "40001", "26000", "53100"].map((state) => failureOf(answer(state)).endsConnection)).not.toContain(
    true,
  );
});

describe("what the driver says itself", () => {
  test.each(MESSAGES.map(complete))("%s is %s", (message, read, write) =>
    expectMapped(new Error(message), read, write),
  );

  test.each(SYSTEM.map(complete))("%s is %s", async (code, read, write) => {
    await expectMapped(Object.assign(new Error(`connect ${code}`), { code }), read, write);
    expect(sqlStateOf(Object.assign(new Error(), { code }))).toBe("");
  });

  test("anything else that is thrown is unavailable", async () => {
    for (const thrown of [undefined, null, "text", { code: 5 }]) {
      expect(await errorOf(thrown)).toMatchObject({ code: "unavailable", cause: thrown });
    }
  });
});

test("errors of the framework pass through", async () => {
  const error = new AgentFrameworkError("conflict", "another writer came first");
  expect(await errorOf(error)).toBe(error);
});

test.each([
  ["lost", ["08006", "57P01", "57P02", "57P03"]],
  ["passing", ["53300", "57P05"]],
  ["undone", ["40001", "40P01"]],
  ["refused", ["3F000", "40003", "42501", "42703", "42883", "42P01", "53100", "57014", "57P04"]],
])("what may be sent again is told from the rest, and each by its SQLSTATE: %s", (fate, states) => {
  for (const state of states) {
    expect(failureOf(answer(state)).fate).toBe(fate);
    expect(failureOf(answer(state)).reason).toContain(`(SQLSTATE ${state})`);
  }
});

test("what is missing is told from what is another one", () => {
  const states = ["3F000", "42P01", "42883", "42703"];
  expect(states.map((state) => isMissing(answer(state)))).toEqual([true, true, true, false]);
});

test("a connection that ended, an error that nobody knows and a connection that was not to be had are told apart", () => {
  const messages = ["Connection terminated unexpectedly", "something new", "timeout exceeded when trying to connect"];
  expect(messages.map((message) => failureOf(new Error(message)).fate)).toEqual(["lost", "unclear", "refused"]);
});
