import type { ErrorCode } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { corruptError } from "../src/corrupt-error.ts";
import {
  answerWord,
  conflictError,
  isConnectionLost,
  isUnsent,
  RedisProblem,
  toFrameworkError,
} from "../src/errors.ts";

/** An error as the driver makes it of a server's answer. */
function answer(message: string): Error {
  return Object.assign(new Error(message), { name: "ReplyError" });
}

function systemError(code: string): Error {
  return Object.assign(new Error(`connect ${code} 127.0.0.1:6379`), { code });
}

const ANSWERS: readonly (readonly [string, ErrorCode])[] = [
  ["WRONGTYPE Operation against a key holding the wrong kind of value script: 5cd3, on @user_script:1.", "corrupt"],
  ["NOAUTH Authentication required.", "unauthorized"],
  ["WRONGPASS invalid username-password pair or user is disabled.", "unauthorized"],
  ["NOPERM this user has no permissions to run the 'evalsha' command", "unauthorized"],
  ["DENIED Redis is running in protected mode", "unauthorized"],
  [
    "ERR The user executing the script can't run this command or subcommand script: 5cd3, on @user_script:1.",
    "unauthorized",
  ],
  ["ERR ACL failure in script: User app has no permissions to run the 'rpush' command script: 5cd3", "unauthorized"],
  ["ERR invalid password", "unauthorized"],
  ["CROSSSLOT Keys in request don't hash to the same slot", "configuration"],
  ["MOVED 3999 127.0.0.1:6381", "configuration"],
  ["ASK 3999 127.0.0.1:6381", "configuration"],
  ["ERR DB index is out of range", "configuration"],
  ["ERR SELECT is not allowed in cluster mode", "configuration"],
  ["ERR unknown command 'evalsha', with args beginning with: ", "unsupported"],
  ["LOADING Redis is loading the dataset in memory", "unavailable"],
  ["READONLY You can't write against a read only replica.", "unavailable"],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", "unavailable"],
  ["NOREPLICAS Not enough good replicas to write.", "unavailable"],
  ["CLUSTERDOWN The cluster is down", "unavailable"],
  ["TRYAGAIN Multiple keys request during rehashing of slot", "unavailable"],
  ["OOM command not allowed when used memory > 'maxmemory'.", "unavailable"],
  ["MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.", "unavailable"],
  ["BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.", "unavailable"],
  ["NOSCRIPT No matching script. Please use EVAL.", "unavailable"],
  ["ERR max number of clients reached", "unavailable"],
  ["ERR something that is not in the table", "unavailable"],
  ["constructor of a word that is no code", "unavailable"],
];

describe("the server's answers", () => {
  test.each(ANSWERS)("%s is %s, for reads and writes alike", (message, code) => {
    for (const kind of ["read", "write"] as const) {
      const error = answer(message);
      const mapped = toFrameworkError(error, "append", kind);
      expect(mapped.code).toBe(code);
      expect(mapped.cause).toBe(error);
      expect(mapped.provider).toBe("history-redis");
      expect(mapped.message).toMatch(/^\[history-redis\] append: [a-z]/);
      expect(isConnectionLost(error)).toBe(false);
    }
  });

  test("a server before 7 wraps the answer of a command in a script", () => {
    const wrapped = answer(
      "ERR Error running script (call to f_abc): @user_script:7: WRONGTYPE Operation against a key holding the wrong kind of value ",
    );
    expect(answerWord(wrapped)).toBe("WRONGTYPE");
    expect(toFrameworkError(wrapped, "append", "write").code).toBe("corrupt");
    const memory = answer("ERR Error running script (call to f_abc): @user_script:7: -OOM command not allowed ");
    expect(toFrameworkError(memory, "append", "write").code).toBe("unavailable");
  });

  test("a cluster client that followed a moved slot in vain met an outage", () => {
    const moved = new Error("Too many Cluster redirections. Last error: ReplyError: MOVED 12 127.0.0.1:7001");
    expect(toFrameworkError(moved, "append", "write").code).toBe("unavailable");
    const down = new Error("Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN The cluster is down");
    expect(toFrameworkError(down, "append", "write").code).toBe("unavailable");
  });
});

describe("the connection", () => {
  test.each([
    ["ECONNREFUSED", "unavailable", "connection refused"],
    ["EPROTO", "unavailable", "TLS"],
    ["CERT_HAS_EXPIRED", "configuration", "certificate"],
  ])("that %s kept from coming about is %s, and nothing was written", (code, expected, reason) => {
    const error = toFrameworkError(systemError(code), "append", "write");
    expect(error.code).toBe(expected);
    expect(error.message).toContain(reason);
    expect(isConnectionLost(systemError(code))).toBe(false);
  });

  test.each([
    systemError("ECONNRESET"),
    systemError("EPIPE"),
    systemError("ETIMEDOUT"),
    new Error("Connection is closed."),
    new Error("Command aborted due to connection close"),
    new Error("Socket timeout. Expecting data, but didn't receive any in 500ms."),
    new Error('Reached the max retries per request limit (which is 20). Refer to "maxRetriesPerRequest" option.'),
    new Error("Too many Cluster redirections. Last error: Error: Connection is closed."),
  ])("%s leaves a write in doubt", (error) => {
    expect(isConnectionLost(error)).toBe(true);
    expect(toFrameworkError(error, "append", "write").code).toBe("outcome_unknown");
    expect(toFrameworkError(error, "read", "read").code).toBe("unavailable");
  });

  test.each([
    new Error("Stream isn't writeable and enableOfflineQueue options is false"),
    new Error("Failed to refresh slots cache."),
    new Error("None of startup nodes is available"),
    new Error("Cluster isn't ready and enableOfflineQueue options is false"),
  ])("%s means that nothing was sent", (error) => {
    expect(isUnsent(error)).toBe(true);
    expect(toFrameworkError(error, "append", "write").code).toBe("unavailable");
  });

  test("the time limit of a client that was passed in leaves a write in doubt", () => {
    expect(toFrameworkError(new Error("Command timed out"), "append", "write").code).toBe("outcome_unknown");
    expect(toFrameworkError(new Error("Command timed out"), "read", "read").code).toBe("timeout");
  });

  test("what this package noticed itself is told in its own words", () => {
    const mapped = toFrameworkError(new RedisProblem("the store was closed"), "read", "read");
    expect([mapped.code, mapped.message]).toEqual(["unavailable", "[history-redis] read: the store was closed"]);
  });

  test("what the driver calls AbortError is not the caller's abort", () => {
    const error = Object.assign(new Error("Command aborted due to connection close"), { name: "AbortError" });
    expect(toFrameworkError(error, "append", "write").code).toBe("outcome_unknown");
  });

  test("anything else that is thrown is an outage", () => {
    expect(toFrameworkError("text", "read", "read").code).toBe("unavailable");
    expect(toFrameworkError(undefined, "read", "read").code).toBe("unavailable");
  });
});

describe("errors of the framework", () => {
  test("pass through as they are", () => {
    const conflict = conflictError("append: taken", "v1");
    expect(toFrameworkError(conflict, "append", "write")).toBe(conflict);
    expect([conflict.code, conflict.currentVersion, conflict.retryable]).toEqual(["conflict", "v1", true]);
  });

  test("name where stored data is corrupt, and keep the key to their cause", () => {
    const error = corruptError("index 7", "agentfw:1:h:{1}:alice");
    expect([error.code, error.position]).toEqual(["corrupt", "index 7"]);
    expect(error.message).toBe("[history-redis] a stored record cannot be read (index 7)");
    expect(String(error.cause)).toContain("agentfw:1:h:{1}:alice");
  });

  test("say that a key has another type", () => {
    const error = toFrameworkError(answer("WRONGTYPE Operation against a key"), "read", "read");
    expect([error.code, error.position]).toEqual(["corrupt", "the type of a key"]);
  });
});
