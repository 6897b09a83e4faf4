import type { ErrorCode } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { failureOf } from "../src/errors.ts";
import { corruptProblem } from "../src/replies.ts";

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
  test.each(ANSWERS)("%s is %s, and the server did nothing", (message, code) => {
    const failure = failureOf(answer(message));
    expect(failure.code).toBe(code);
    expect(failure.reason).toMatch(/^[a-z]/);
    const outcomes = { NOSCRIPT: "forgotten", READONLY: "misplaced", constructor: undefined };
    const [word = ""] = message.split(" ");
    expect(failure.outcome).toBe(Object.hasOwn(outcomes, word) ? Object(outcomes)[word] : "refused");
  });

  test("that may pass name what the server calls them", () => {
    expect(failureOf(answer("OOM command not allowed")).reason).toBe("the server refuses for now: OOM");
  });

  test("of another type of a key say where", () => {
    expect(failureOf(answer("WRONGTYPE Operation against a key")).position).toBe("the type of a key");
  });

  test("a server before 7 wraps the answer of a command in a script", () => {
    const wrapped = answer(
      "ERR Error running script (call to f_abc): @user_script:7: WRONGTYPE Operation against a key holding the wrong kind of value ",
    );
    expect(failureOf(wrapped)).toMatchObject({ code: "corrupt", outcome: "refused" });
    const memory = answer("ERR Error running script (call to f_abc): @user_script:7: -OOM command not allowed ");
    expect(failureOf(memory)).toMatchObject({ code: "unavailable", reason: expect.stringContaining("OOM") });
  });

  test("a cluster client that followed a moved slot in vain met an outage", () => {
    const moved = new Error("Too many Cluster redirections. Last error: ReplyError: MOVED 12 127.0.0.1:7001");
    expect(failureOf(moved).code).toBe("unavailable");
    const down = new Error("Too many Cluster redirections. Last error: ReplyError: CLUSTERDOWN The cluster is down");
    expect(failureOf(down)).toMatchObject({ code: "unavailable", reason: expect.stringContaining("CLUSTERDOWN") });
  });
});

describe("the connection", () => {
  test.each([
    ["ECONNREFUSED", "unavailable", "connection refused"],
    ["EPROTO", "unavailable", "TLS"],
    ["CERT_HAS_EXPIRED", "configuration", "certificate"],
  ])("that %s kept from coming about is %s, and nothing was written", (code, expected, reason) => {
    const failure = failureOf(systemError(code));
    expect(failure).toMatchObject({ code: expected, reason: expect.stringContaining(reason) });
    expect(failure.outcome).toBeUndefined();
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
    expect(failureOf(error)).toMatchObject({ code: "unavailable", outcome: "lost" });
  });

  test.each([
    new Error("Stream isn't writeable and enableOfflineQueue options is false"),
    new Error("Failed to refresh slots cache."),
    new Error("None of startup nodes is available"),
    new Error("Cluster isn't ready and enableOfflineQueue options is false"),
  ])("%s means that nothing was sent", (error) => {
    expect(failureOf(error)).toMatchObject({ code: "unavailable", outcome: "unsent" });
  });

  test("the time limit of a client that was passed in leaves a write in doubt", () => {
    expect(failureOf(new Error("Command timed out"))).toMatchObject({ code: "timeout", outcome: "lost" });
  });

  test("what the driver calls AbortError is not the caller's abort", () => {
    const error = Object.assign(new Error("Command aborted due to connection close"), { name: "AbortError" });
    expect(failureOf(error).outcome).toBe("lost");
  });

  test("anything else that is thrown is an outage", () => {
    for (const error of ["text", undefined, new Error("no idea")]) {
      expect(failureOf(error)).toEqual({ code: "unavailable", reason: "the server or its client refused" });
    }
  });
});

describe("what cannot be read", () => {
  test("is corrupt and says where, with the key in its cause only", () => {
    const problem = corruptProblem("index 7", "agentfw:1:h:{1}:alice");
    const reason = "a stored record cannot be read (index 7)";
    expect(problem.failure).toEqual({ code: "corrupt", position: "index 7", reason });
    expect(String(problem)).toContain("agentfw:1:h:{1}:alice");
  });
});
