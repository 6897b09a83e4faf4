import { AgentFrameworkError } from "@agentfw/core";
import { LibsqlError } from "@libsql/client";
import { describe, expect, it } from "vitest";
import { toFrameworkError } from "../src/errors.ts";

const MEANINGS = {
  unavailable: [
    "SQLITE_BUSY",
    "SQLITE_LOCKED",
    "SQLITE_PROTOCOL",
    "SQLITE_CANTOPEN",
    "SQLITE_FULL",
    "SQLITE_NOMEM",
    "TRANSACTION_ACTIVE",
    "TRANSACTION_CLOSED",
    "CLIENT_CLOSED",
  ],
  unauthorized: ["SQLITE_READONLY", "SQLITE_PERM", "SQLITE_AUTH"],
  configuration: ["SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_CONSTRAINT"],
  corrupt: ["SQLITE_CORRUPT"],
};

describe("what the driver says", () => {
  for (const [code, driverCodes] of Object.entries(MEANINGS)) {
    it.each(driverCodes)(`is ${code} for %s`, (driverCode) => {
      const cause = new LibsqlError("near ann's secret", driverCode);
      for (const kind of ["read", "write"] as const) {
        const error = toFrameworkError(cause, "append", kind);
        expect(error).toMatchObject({ code, cause, provider: "history-sqlite" });
        expect(error.message).not.toContain("secret");
      }
    });
  }

  it("is not known to have done nothing when it is not known", () => {
    const cause = new LibsqlError("disk I/O error", "SQLITE_IOERR");
    expect(toFrameworkError(cause, "append", "write").code).toBe("outcome_unknown");
    expect(toFrameworkError(cause, "read", "read").code).toBe("unavailable");
    expect(toFrameworkError("a text", "append", "write").code).toBe("outcome_unknown");
  });

  it("passes through what is said already", () => {
    const error = new AgentFrameworkError("conflict", "someone else came first");
    expect(toFrameworkError(error, "append", "write")).toBe(error);
  });
});
