import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { InMemoryFileStore, isAgentFrameworkError } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { FileMemoryProvider, FileSystemFileStore, scopeSegment } from "../src/index.ts";
import { resolveOptions } from "../src/options.ts";
import { temporaryDirectory } from "./support/store.ts";

function refusal(make: () => unknown): unknown {
  try {
    make();
  } catch (error) {
    return error;
  }
  throw new Error("was not refused");
}

describe("the constructor of the store", () => {
  test("makes and reads nothing", async () => {
    const directory = await temporaryDirectory();
    new FileSystemFileStore(join(directory, "store"));
    expect(await readdir(directory)).toEqual([]);
  });

  test("fills in the defaults, also for options that are undefined", () => {
    const expected = {
      root: resolve("memory"),
      maxFileBytes: 1_048_576,
      maxFiles: 1_000,
      maxTotalBytes: 33_554_432,
      fsync: true,
      timeoutMs: 5_000,
      onDiagnostic: undefined,
    };
    expect(resolveOptions("memory", {})).toEqual(expected);
    const names = ["maxFileBytes", "maxFiles", "maxTotalBytes", "fsync", "timeoutMs", "onDiagnostic"];
    expect(resolveOptions("memory", Object.fromEntries(names.map((name) => [name, undefined])))).toEqual(expected);
  });

  test("takes what is not there for absent, under names that it does not know, too, and says which there are", () => {
    expect(resolveOptions("memory", Object.fromEntries([["maxfiles", undefined]]))).toEqual(
      resolveOptions("memory", {}),
    );
    expect(String(refusal(() => Reflect.construct(FileSystemFileStore, ["x", { maxfiles: 5 }])))).toContain(
      "maxfiles: is none of maxFileBytes, maxFiles, maxTotalBytes, fsync, timeoutMs, onDiagnostic",
    );
  });

  test.each([undefined, null, "", " ", "a\0b", 7, {}])("refuses the root %j", (root) => {
    const error = refusal(() => Reflect.construct(FileSystemFileStore, [root]));
    expect(isAgentFrameworkError(error, "configuration")).toBe(true);
    expect(String(error)).toContain("root");
  });

  test.each([
    ["maxFileBytes", 0],
    ["maxFileBytes", 67_108_865],
    ["maxFileBytes", "1000"],
    ["maxFiles", 0],
    ["maxFiles", 1.5],
    ["maxTotalBytes", -1],
    ["maxTotalBytes", Number.NaN],
    ["fsync", "yes"],
    ["timeoutMs", 0],
    ["timeoutMs", 2 ** 31],
    ["onDiagnostic", "console"],
    ["maxfiles", 5],
  ])("refuses %s: %s by its name", (name, value) => {
    const error = refusal(() => Reflect.construct(FileSystemFileStore, ["x", { [name]: value }]));
    expect(isAgentFrameworkError(error, "configuration")).toBe(true);
    expect(String(error)).toContain(name);
  });

  test.each([null, "x", 7, []])("refuses options that are %j", (options) => {
    const error = refusal(() => Reflect.construct(FileSystemFileStore, ["x", options]));
    expect(isAgentFrameworkError(error, "configuration")).toBe(true);
  });
});

describe("the constructor of the provider", () => {
  test("fills in the defaults", () => {
    const provider = new FileMemoryProvider(new InMemoryFileStore());
    expect(provider.sourceId).toBe("file_memory");
    const options = { scope: undefined, sourceId: undefined, instructions: undefined, maxIndexEntries: undefined };
    expect(new FileMemoryProvider(new InMemoryFileStore(), options).sourceId).toBe("file_memory");
  });

  test.each([
    ["scope", ""],
    ["scope", "../u2"],
    ["scope", "/users/42"],
    ["scope", "users/42/"],
    ["scope", "C:\\users"],
    ["scope", "_sessions/x"],
    ["scope", "_SESSIONS"],
    ["scope", "a\0"],
    ["scope", "nul"],
    ["scope", null],
    ["scope", 42],
    ["sourceId", ""],
    ["instructions", ""],
    ["instructions", 7],
    ["maxIndexEntries", -1],
    ["maxIndexEntries", 1.5],
    ["maxIndexEntry", 5],
  ])("refuses %s: %j by its name", (name, value) => {
    const error = refusal(() => Reflect.construct(FileMemoryProvider, [new InMemoryFileStore(), { [name]: value }]));
    expect(isAgentFrameworkError(error, "configuration")).toBe(true);
    expect(String(error)).toContain(name);
  });

  test("says which options there are", () => {
    const error = refusal(() => Reflect.construct(FileMemoryProvider, [new InMemoryFileStore(), { maxIndexEntry: 5 }]));
    expect(String(error)).toContain("maxIndexEntry: is none of scope, sourceId, instructions, maxIndexEntries");
  });

  test.each([undefined, null, "store", {}, { contractVersion: "1" }])("refuses %j as a store", (store) => {
    const error = refusal(() => Reflect.construct(FileMemoryProvider, [store]));
    expect(isAgentFrameworkError(error, "configuration")).toBe(true);
  });

  test("refuses a store of a later contract as unsupported", () => {
    const error = refusal(() => Reflect.construct(FileMemoryProvider, [{ contractVersion: 2 }]));
    expect(isAgentFrameworkError(error, "unsupported")).toBe(true);
  });
});

describe("a scope segment", () => {
  test("is another one for each name, also where case, form and separators are lost", () => {
    const names = [
      "ann",
      "Ann",
      "ANN",
      "a/b",
      "a_b",
      "a",
      "..",
      ".",
      "",
      "nul",
      "con.md",
      "é",
      "e\u0301",
      "x.",
      "x ",
      "_a",
      "😀",
    ];
    const segments = [...names, "\ud800", "\udc00", "x".repeat(101), "x".repeat(102)].map(scopeSegment);
    expect(new Set(segments.map((segment) => segment.toLowerCase().normalize("NFKC"))).size).toBe(segments.length);
    for (const segment of segments) {
      expect(new FileMemoryProvider(new InMemoryFileStore(), { scope: `users/${segment}` })).toBeDefined();
    }
    expect(scopeSegment("user-42@example.org")).toBe("user-42@example.org");
  });

  test.each([null, undefined, 7])("refuses %j, so that nobody's memories are not taken for somebody's", (name) => {
    expect(
      isAgentFrameworkError(
        refusal(() => Reflect.apply(scopeSegment, undefined, [name])),
        "configuration",
      ),
    ).toBe(true);
  });
});
