import fs from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { AgentFrameworkError, isAgentFrameworkError } from "@agentfw/core";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { codeOf, conversation, fileOf, openStore, record, records, tree } from "./support/store.ts";

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: /secret/owner@example.com/main/s.jsonl`), { code });
}

describe("an error of the system", () => {
  /** What an append rejects with whose lock cannot be made. */
  async function errorOf(cause: unknown): Promise<unknown> {
    const { store } = await openStore();
    const spy = vi.spyOn(fs, "link").mockImplementation(((
      _from: string,
      _to: string,
      done: (error: unknown) => void,
    ) => {
      done(cause);
    }) as never);
    onTestFinished(() => spy.mockRestore());
    return store.append(conversation(), [record("a")]).catch((error: unknown) => error);
  }

  test.each([
    ["EACCES", "unauthorized", "permission denied"],
    ["ELOOP", "unauthorized", "a link or a device stands where a file should be"],
    ["EFBIG", "too_large", "the file would grow above the limit of the system"],
    ["ENAMETOOLONG", "configuration", "directory or path: too long for the file system"],
    ["ENOSPC", "unavailable", "no space left on the device"],
    ["ESOMETHINGNEW", "unavailable", "the file system answered ESOMETHINGNEW"],
  ])("%s is %s, and its message names the operation and the reason, and no path", async (code, expected, reason) => {
    const cause = systemError(code);
    const error = await errorOf(cause);
    expect(isAgentFrameworkError(error, expected as never)).toBe(true);
    expect(error).toMatchObject({ provider: "history-file", message: `[history-file] append: ${reason}`, cause });
  });

  test("an AbortError, an error of the framework and a programming error pass through", async () => {
    const abort = new DOMException("stop", "AbortError");
    const ours = new AgentFrameworkError("conflict", "no");
    const bug = new TypeError("not a function");
    const invalid = Object.assign(new TypeError("path"), { code: "ERR_INVALID_ARG_TYPE" });
    for (const error of [abort, ours, bug, invalid]) {
      expect(await errorOf(error)).toBe(error);
    }
  });
});

describe("an outage is never an empty history", () => {
  test("a root that never was is an empty store, and reading makes nothing", async () => {
    const { store, directory } = await openStore();
    expect(await store.read(conversation())).toEqual({ records: [], version: "" });
    expect(await store.list({ allOwners: true })).toEqual({ items: [] });
    await store.clear(conversation());
    await expect(tree(directory)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("a root that was there and is gone is unavailable, and writes do not start afresh", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), records("a", 2));
    await rename(directory, `${directory}.gone`);
    expect(await codeOf(store.read(conversation()))).toBe("unavailable");
    expect(await codeOf(store.read(conversation("another")))).toBe("unavailable");
    expect(await codeOf(store.append(conversation(), records("b", 1)))).toBe("unavailable");
    expect(await codeOf(store.append(conversation("another"), records("b", 1)))).toBe("unavailable");
    expect(await codeOf(store.clear(conversation()))).toBe("unavailable");
    expect(await codeOf(store.list({ owner: "owner-1" }))).toBe("unavailable");
    await rename(`${directory}.gone`, directory);
    expect((await store.read(conversation())).records).toEqual(records("a", 2));
  });

  test("a store that has only read notices the loss too", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), records("a", 2));
    const { store: reader } = await openStore({ directory });
    await reader.read(conversation());
    await rm(directory, { recursive: true });
    expect(await codeOf(reader.read(conversation()))).toBe("unavailable");
  });

  test("a file in the place of a directory, and a directory in the place of a file, are unavailable", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation("other"), [record("a")]);
    await mkdir(fileOf(directory));
    expect(await codeOf(store.read(conversation()))).toBe("unavailable");
    expect(await codeOf(store.append(conversation(), [record("a")]))).toBe("unavailable");
    await writeFile(`${directory}/owner-2`, "");
    for (const key of [conversation("s", { owner: "owner-2" })]) {
      expect(await codeOf(store.read(key))).toBe("unavailable");
      expect(await codeOf(store.append(key, [record("a")]))).toBe("unavailable");
      expect(await codeOf(store.clear(key))).toBe("unavailable");
      expect(await codeOf(store.list({ owner: "owner-2" }))).toBe("unavailable");
    }
  });

  test("a missing directory is absence only while the root is there", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), [record("a")]);
    await rm(dirname(fileOf(directory)), { recursive: true });
    expect(await store.read(conversation())).toEqual({ records: [], version: "" });
    expect((await store.append(conversation(), [record("a")])).appended).toBe(1);
  });
});

test("a process that may only read can read; its appends are unauthorized until it may write", async () => {
  const { store, directory } = await openStore();
  await store.append(conversation(), records("a", 2));
  await store.close();
  const original = fs.open;
  const spy = vi.spyOn(fs, "open").mockImplementation(((...args: unknown[]) => {
    const [path, flags, , done] = args;
    const isDenied = String(path).endsWith(".jsonl") && (Number(flags) & fs.constants.O_RDWR) !== 0;
    if (isDenied && typeof done === "function") {
      done(Object.assign(new Error("EACCES"), { code: "EACCES" }));
    } else {
      Reflect.apply(original, fs, args);
    }
  }) as never);
  const { store: reader } = await openStore({ directory });
  expect((await reader.read(conversation())).records).toEqual(records("a", 2));
  expect(await codeOf(reader.append(conversation(), [record("b")]))).toBe("unauthorized");
  expect((await reader.read(conversation())).records).toEqual(records("a", 2));
  spy.mockRestore();
  expect((await reader.append(conversation(), [record("b")])).appended).toBe(1);
});
