import { describe, expect, it } from "vitest";
import { ProviderErrors } from "../../src/backend.ts";

const errors = new ProviderErrors("history-test");

describe("Errors of a backend", () => {
  it.each([
    [errors.conflict("append: another writer came first", "5"), "conflict", { currentVersion: "5" }],
    [errors.conflict("create: is there"), "conflict", { currentVersion: undefined }],
    [errors.corrupt("read: cannot be read", "seq 5"), "corrupt", { position: "seq 5" }],
    [errors.outcomeUnknown("clear", "the answer was lost"), "outcome_unknown", { retryable: true }],
    [errors.unexpectedAnswer("list"), "unsupported", { retryable: false }],
  ])("%s are signed, and have their code and details", (error, code, details) => {
    expect(error).toMatchObject({ code, provider: "history-test", ...details });
    expect(error.message).toMatch(/^\[history-test\] \w+: /);
  });
});
