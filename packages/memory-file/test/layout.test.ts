import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { FileMemoryProvider, FileSystemFileStore } from "../src/index.ts";
import { begin, beginOn } from "./support/memory.ts";
import { codeOf, openStore, tree } from "./support/store.ts";

describe("on disk", () => {
  test("memories are plain files that a person can read, search and commit", async () => {
    const { store, root } = await openStore();
    const run = await beginOn(store);
    await run.call("write", { file_name: "food.md", content: "Italian\n", description: 'likes "pasta"' });
    await run.call("write", { file_name: "plain.txt", content: "as it is" });
    expect(await tree(root)).toEqual(["users", "users/42", "users/42/food.md", "users/42/plain.txt"]);
    expect(await readFile(join(root, "users/42/food.md"), "utf8")).toBe(
      '---\ndescription: "likes \\"pasta\\""\n---\nItalian\n',
    );
    expect(await readFile(join(root, "users/42/plain.txt"), "utf8")).toBe("as it is");
    const status = spawnSync("git", ["init", "-q"], { cwd: root });
    if (status.status === 0) {
      const { stdout } = spawnSync("git", ["status", "--porcelain", "-uall"], { cwd: root, encoding: "utf8" });
      expect(stdout.split("\n").filter(Boolean)).toEqual(["?? users/42/food.md", "?? users/42/plain.txt"]);
    }
  });

  test("the store's own directory is hidden from git also when a crash came before", async () => {
    const { root } = await openStore();
    await mkdir(join(root, "_store"), { recursive: true });
    const { store } = await openStore({ root });
    await store.write("a.md", "x");
    expect(await readFile(join(root, "_store", ".gitignore"), "utf8")).toBe("*\n");
  });

  test("a person's own files and edits are taken as they are", async () => {
    const { store, root } = await openStore();
    await mkdir(join(root, "users", "42"), { recursive: true });
    await writeFile(join(root, "users/42/a.md"), "---\ndescription: by hand, 100%\n---\nfirst\n");
    await writeFile(join(root, "users/42/b.md"), '---\r\ndescription: "with # signs"\r\n---\r\nb');
    const before = await beginOn(store);
    expect(before.index).toContain('- "a.md": "by hand, 100%"\n- "b.md": "with # signs"');
    expect(await before.call("read", { file_name: "a.md" })).toBe("first\n");
    await writeFile(join(root, "users/42/a.md"), "---\ndescription: changed\n---\nsecond\n");
    const after = await beginOn(store);
    expect(after.index).toContain('- "a.md": "changed"');
    await after.call("replace", { file_name: "a.md", old_string: "second", new_string: "third" });
    expect(await readFile(join(root, "users/42/a.md"), "utf8")).toBe('---\ndescription: "changed"\n---\nthird\n');
  });

  test("each owner has a directory, which holds all of an owner's memories and can be removed", async () => {
    const { store, root } = await openStore();
    const provider = new FileMemoryProvider(store);
    for (const owner of ["ann", "Ann", null]) {
      await (await begin(provider, { owner })).call("write", { file_name: "a.md", content: "x" });
    }
    const hashed = (await readdir(join(root, "_owners"))).find((name) => name !== "ann") ?? "";
    expect(hashed).toMatch(/^_[0-9a-f]{64}$/);
    expect(await tree(root)).toEqual(
      [
        "_owners",
        `_owners/${hashed}`,
        `_owners/${hashed}/_sessions`,
        `_owners/${hashed}/_sessions/session-1`,
        `_owners/${hashed}/_sessions/session-1/a.md`,
        "_owners/ann",
        "_owners/ann/_sessions",
        "_owners/ann/_sessions/session-1",
        "_owners/ann/_sessions/session-1/a.md",
        "_sessions",
        "_sessions/session-1",
        "_sessions/session-1/a.md",
      ].sort(),
    );
    await rm(join(root, "_owners", "ann"), { recursive: true });
    expect(await store.list("", { owner: "ann" })).toEqual([]);
    expect(await store.list("", { owner: "Ann" })).toHaveLength(1);
  });

  test("files and directories are for the user alone, and empty directories go", async () => {
    const { store, root } = await openStore();
    await store.write("a/b/c.md", "x");
    for (const path of [".", "a", "a/b", "_store"]) {
      expect((await stat(join(root, path))).mode & 0o777).toBe(0o700);
    }
    expect((await stat(join(root, "a/b/c.md"))).mode & 0o777).toBe(0o600);
    await store.write("a/d.md", "x");
    await store.delete("a/b/c.md");
    expect(await tree(root)).toEqual(["a", "a/d.md"]);
    await store.delete("a/d.md");
    expect(await tree(root)).toEqual([]);
    await store.write("A", "a name that was a directory is free again");
    expect(await readdir(join(root, "_store"))).toEqual([".gitignore"]);
  });

  test("a root that never was is empty, and one that is gone is an outage", async () => {
    const { store, root } = await openStore();
    expect(await store.read("a.md")).toBeUndefined();
    expect(await store.list("")).toEqual([]);
    expect(await store.delete("a.md")).toBe(false);
    expect(await readdir(join(root, ".."))).toEqual([]);
    await store.write("a.md", "x");
    await rename(root, `${root}.moved`);
    for (const call of [
      () => store.read("a.md"),
      () => store.list(""),
      () => store.write("a.md", "y"),
      () => store.delete("a.md"),
    ]) {
      expect(await codeOf(call())).toBe("unavailable");
    }
    await rename(`${root}.moved`, root);
    expect((await store.read("a.md"))?.text).toBe("x");
  });

  test("a root that cannot be made is told at once, also where the file system says that its parent is missing", async () => {
    const store = new FileSystemFileStore("/proc/nobody/memory");
    expect(await store.read("a.md")).toBeUndefined();
    await expect(store.write("a.md", "x")).rejects.toMatchObject({ code: "unavailable", cause: { code: "ENOENT" } });
  });
});

test("a file system that takes more spellings for one name than we do loses nothing", async () => {
  const { store, root } = await openStore();
  await store.write("ss.md", "one");
  await store.write("users/ss/a.md", "one");
  const asThere = (argument: unknown) =>
    typeof argument === "string" ? argument.replaceAll("ß", "ss").replace("_STORE", "_store") : argument;
  for (const call of ["open", "lstat", "rename", "mkdir", "unlink"] as const) {
    const original = fs[call];
    const spy = vi
      .spyOn(fs, call)
      .mockImplementation(((...args: unknown[]) => Reflect.apply(original, fs, args.map(asThere))) as never);
    onTestFinished(() => spy.mockRestore());
  }
  const { store: other } = await openStore({ root });
  for (const path of ["ß.md", "users/ß/a.md"]) {
    expect(await codeOf(other.write(path, "two"))).toBe("conflict");
    expect(await other.read(path)).toBeUndefined();
    expect(await other.exists(path)).toBe(false);
    expect(await other.delete(path)).toBe(false);
  }
  expect(await other.search(".")).toEqual([
    { path: "ss.md", line: 1, text: "one" },
    { path: "users/ss/a.md", line: 1, text: "one" },
  ]);
});

describe("an etag", () => {
  test("changes with an edit by someone else, also one of the same length", async () => {
    const { store, root } = await openStore();
    const { etag } = await store.write("a.md", "one");
    await writeFile(join(root, "a.md"), "two");
    expect(await codeOf(store.write("a.md", "three", { ifMatch: etag }))).toBe("conflict");
    expect((await store.read("a.md"))?.text).toBe("two");
  });

  test("is new with each write also where times are coarse or lie ahead", async () => {
    const { store, root } = await openStore();
    const ahead = new Date(Date.now() + 3_600_000);
    await store.write("a.md", "x");
    await utimes(join(root, "a.md"), ahead, ahead);
    const { futimes } = fs;
    const spy = vi
      .spyOn(fs, "futimes")
      .mockImplementation(((descriptor: number, atime: number, mtime: number, done: () => void) =>
        futimes(descriptor, Math.floor(atime / 2) * 2, Math.floor(mtime / 2) * 2, done)) as never);
    onTestFinished(() => spy.mockRestore());
    const etags = [(await store.read("a.md"))?.etag];
    for (let turn = 0; turn < 5; turn += 1) {
      const { mtimeMs } = await stat(join(root, "a.md"));
      etags.push((await store.write("a.md", "x")).etag);
      expect((await stat(join(root, "a.md"))).mtimeMs).toBeGreaterThan(mtimeMs);
    }
    expect(new Set(etags).size).toBe(6);
  });

  test("is new with each write also after the last time that the file system knows", async () => {
    const { store, root } = await openStore();
    await store.write("a.md", "x");
    const last = 15_032_385_535;
    await utimes(join(root, "a.md"), last, last);
    const etags = [(await store.read("a.md"))?.etag];
    for (let turn = 0; turn < 5; turn += 1) {
      etags.push((await store.write("a.md", "x")).etag);
    }
    expect(new Set(etags).size).toBe(6);
  });
});
