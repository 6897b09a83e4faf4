import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { FileProblem, fileFailure } from "../../src/backend.ts";
import { AgentFrameworkError } from "../../src/errors.ts";

const withCode = (code: unknown) => Object.assign(new Error("/home/someone/secret"), { code });

describe("An error of the file system", () => {
  it.each([
    ["EACCES", "unauthorized", "permission denied"],
    ["EPERM", "unauthorized", "permission denied"],
    ["EROFS", "unauthorized", "the file system is read-only"],
    ["ELOOP", "unauthorized", "a link or a device stands where a file should be"],
    ["EMLINK", "unauthorized", "a link or a device stands where a file should be"],
    ["ENXIO", "unauthorized", "a link or a device stands where a file should be"],
    ["EFBIG", "too_large", "the file would grow above the limit of the system"],
    ["ENAMETOOLONG", "configuration", "directory or path: too long for the file system"],
    ["ENOSPC", "unavailable", "no space left on the device"],
    ["EDQUOT", "unavailable", "the disk quota is used up"],
    ["EMFILE", "unavailable", "the process has too many open files"],
    ["ENFILE", "unavailable", "the system has too many open files"],
    ["EIO", "unavailable", "the device reported an error"],
    ["ENOENT", "unavailable", "a directory of the store is gone"],
    ["ENOTDIR", "unavailable", "a file stands where a directory should be"],
    ["EISDIR", "unavailable", "a directory stands where a file should be"],
    ["EBUSY", "unavailable", "the file system answered EBUSY"],
    ["ESOMETHINGNEW", "unavailable", "the file system answered ESOMETHINGNEW"],
  ])("%s is %s: %s", (code, meaning, reason) => {
    expect(fileFailure(withCode(code))).toEqual({ code: meaning, reason });
  });

  it("is none of the framework's, of an abort's or of the program's", () => {
    const errors = [
      new AgentFrameworkError("conflict", "x"),
      new DOMException("x", "AbortError"),
      withCode("ABORT_ERR"),
      withCode("ERR_INVALID_ARG_TYPE"),
      withCode(5),
      new TypeError("x"),
      "EIO",
    ];
    expect(errors.map(fileFailure)).toEqual(errors.map(() => undefined));
  });

  it("can be one that a backend noticed itself", () => {
    const problem = new FileProblem("ELOOP", "a link: /home/someone/secret");
    expect(problem).toMatchObject({ name: "FileProblem", code: "ELOOP", message: "a link: /home/someone/secret" });
    expect(fileFailure(problem)).toMatchObject({ code: "unauthorized" });
  });

  it("is told from errors of Node itself", async () => {
    const error: unknown = await readFile("/dev/null/x").catch((reason: unknown) => reason);
    expect(fileFailure(error)?.reason).toBe("a file stands where a directory should be");
  });
});
