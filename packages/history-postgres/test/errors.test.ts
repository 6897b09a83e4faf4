import { AgentFrameworkError, type ErrorCode } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { isConnectionOver, isOutcomeOpen, meaningOf, sqlStateOf, toFrameworkError } from "../src/errors.ts";

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

function expectMapped(error: Error, read: ErrorCode, write: ErrorCode): void {
  const mapped = toFrameworkError(error, "append");
  expect(mapped.code).toBe(read);
  expect(isOutcomeOpen(meaningOf(error)) ? "outcome_unknown" : mapped.code).toBe(write);
  expect(mapped.cause).toBe(error);
  expect(mapped.provider).toBe("history-postgres");
  expect(mapped.message).toMatch(/^\[history-postgres\] append: [a-z]/);
  expect(mapped.message).not.toContain("some words of the server");
}

describe("the server's answers", () => {
  test.each(STATES.map(complete))("SQLSTATE %s is %s", (state, read, write) => {
    expectMapped(answer(state), read, write);
    expect(sqlStateOf(answer(state))).toBe(state);
  });

  test("a pooler that passes no named statements on is told what to set", () => {
    const errors = [
      answer("42P05"),
      answer("26000"),
      answer("08P01", "bind message supplies 4 parameters, but prepared statement requires 2"),
    ];
    for (const error of errors) {
      const { code, message } = toFrameworkError(error, "read");
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
  ])("%s: no server had the statement", (message) => {
    const error = answer("08P01", message);
    expect(meaningOf(error).fate).toBe("passing");
    expect(toFrameworkError(error, "append").code).toBe("unavailable");
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
  ] as const)("%s: nobody is let in", (message, code) => {
    const error = Object.assign(answer("08P01", message), { severity: "FATAL" });
    expect(meaningOf(error).fate).toBe("refused");
    expect(isConnectionOver(error)).toBe(true);
    const mapped = toFrameworkError(error, "append");
    expect(mapped.code).toBe(code);
    expect(mapped.message).not.toContain("some");
  });

  test.each(["server conn crashed?", "query_timeout", "something new"])("%s: a server may have it", (message) => {
    const error = answer("08P01", message);
    expect(meaningOf(error).fate).toBe("lost");
    expect(toFrameworkError(error, "append").code).toBe("unavailable");
  });
});

test("a connection is over with an error that is not the server's, or that ends it", () => {
  const fatal = Object.assign(answer("28000"), { severity: "FATAL" });
  const over = [new Error("no answer"), fatal, answer("57P01"), answer("57P05"), answer("08P01", "query_wait_timeout")];
  expect(over.map(isConnectionOver)).not.toContain(false);
  expect(["57014", "40001", "26000", "53100"].map((state) => isConnectionOver(answer(state)))).not.toContain(true);
});

describe("what the driver says itself", () => {
  test.each(MESSAGES.map(complete))("%s is %s", (message, read, write) =>
    expectMapped(new Error(message), read, write),
  );

  test.each(SYSTEM.map(complete))("%s is %s", (code, read, write) => {
    expectMapped(Object.assign(new Error(`connect ${code}`), { code }), read, write);
    expect(sqlStateOf(Object.assign(new Error(), { code }))).toBe("");
  });

  test("anything else that is thrown is unavailable", () => {
    for (const thrown of [undefined, null, "text", { code: 5 }]) {
      expect(toFrameworkError(thrown, "read")).toMatchObject({ code: "unavailable", cause: thrown });
    }
  });
});

test("errors of the framework pass through", () => {
  const error = new AgentFrameworkError("conflict", "another writer came first");
  expect(toFrameworkError(error, "append")).toBe(error);
});

test.each([
  ["lost", ["08006", "57P01", "57P02", "57P03"]],
  ["passing", ["53300", "57P05"]],
  ["undone", ["40001", "40P01"]],
  ["missing", ["3F000", "42P01", "42883"]],
  ["refused", ["40003", "42501", "42703", "53100", "57014", "57P04"]],
])("what may be sent again, and what is missing, is told from the rest: %s", (fate, states) => {
  for (const state of states) {
    expect(meaningOf(answer(state)).fate).toBe(fate);
    expect(toFrameworkError(answer(state), "append").message).toContain(`(SQLSTATE ${state})`);
  }
});

test("a connection that ended, an error that nobody knows and a connection that was not to be had are told apart", () => {
  const messages = ["Connection terminated unexpectedly", "something new", "timeout exceeded when trying to connect"];
  expect(messages.map((message) => meaningOf(new Error(message)).fate)).toEqual(["lost", "unclear", "refused"]);
});
