import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isAgentFrameworkError } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { FileHistoryStore } from "../src/index.ts";
import { resolveOptions } from "../src/options.ts";
import { temporaryDirectory } from "./support/store.ts";

function refusal(options: unknown): unknown {
  try {
    Reflect.construct(FileHistoryStore, [options]);
  } catch (error) {
    return error;
  }
  throw new Error("was not refused");
}

describe("the constructor", () => {
  test("makes and reads nothing", async () => {
    const directory = await temporaryDirectory();
    new FileHistoryStore({ directory: join(directory, "store") });
    expect(await readdir(directory)).toEqual([]);
  });

  test("fills in the defaults", () => {
    expect(resolveOptions({ directory: "history" })).toEqual({
      root: resolve("history"),
      fsync: true,
      maxRecordBytes: 16 * 1024 * 1024,
      dedupeWindow: 1000,
      timeoutMs: 5000,
      onDiagnostic: undefined,
    });
  });

  test("declares what the options say", () => {
    const { capabilities } = new FileHistoryStore({ directory: "x", dedupeWindow: 5000, maxRecordBytes: 9 });
    expect(capabilities).toEqual({
      dedupe: 5000,
      processes: "many",
      conditionalAppend: true,
      replace: true,
      list: true,
      ttl: false,
      maxRecords: false,
      maxRecordBytes: 9,
    });
  });

  test("takes undefined for every optional option", () => {
    const options = { fsync: undefined, maxRecordBytes: undefined, dedupeWindow: undefined, timeoutMs: undefined };
    expect(resolveOptions({ directory: "x", onDiagnostic: undefined, ...options }).timeoutMs).toBe(5000);
  });

  test("takes what is not there for absent, under names that it does not know or offer, too", () => {
    const options = { directory: "x", lockTimeoutMs: undefined, ttlSeconds: undefined };
    expect(resolveOptions(options)).toEqual(resolveOptions({ directory: "x" }));
  });

  test("says which options there are", () => {
    expect(String(refusal({ directory: "x", fsyncc: true }))).toContain(
      "fsyncc: is none of directory, fsync, maxRecordBytes, dedupeWindow, timeoutMs, onDiagnostic",
    );
  });

  test.each([
    ["directory", undefined],
    ["directory", ""],
    ["directory", "a\0b"],
    ["directory", 7],
    ["fsync", "yes"],
    ["fsync", 1],
    ["maxRecordBytes", 0],
    ["maxRecordBytes", 1.5],
    ["maxRecordBytes", 268_435_457],
    ["dedupeWindow", 999],
    ["dedupeWindow", "1000"],
    ["timeoutMs", 0],
    ["timeoutMs", Number.NaN],
    ["timeoutMs", 2 ** 31],
    ["onDiagnostic", "console"],
    ["fsyncc", true],
    ["lockTimeoutMs", 5],
  ])("refuses %s: %s by its name", (name, value) => {
    const error = refusal({ directory: "x", [name]: value });
    expect(isAgentFrameworkError(error, "configuration")).toBe(true);
    expect(String(error)).toContain(name);
  });

  test.each([undefined, null, "history"])("refuses options that are %s", (options) => {
    expect(isAgentFrameworkError(refusal(options), "configuration")).toBe(true);
  });

  test.each(["ttlSeconds", "maxRecords"])("refuses %s, which is not offered, instead of ignoring it", (name) => {
    const error = refusal({ directory: "x", [name]: 60 });
    expect(isAgentFrameworkError(error, "unsupported")).toBe(true);
    expect(String(error)).toContain(name);
  });
});
