import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { link, lstat, mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { codeOf, conversation, fileOf, openStore, record, records, temporaryDirectory } from "./support/store.ts";

const SECRET = "the secret outside";

/** A directory beside the store that nothing may touch, with another store's conversation of the same key in it. */
async function outside(): Promise<{ directory: string; file: string; digest: () => Promise<string> }> {
  const { store, directory } = await openStore({ directory: join(await temporaryDirectory(), "outside") });
  await store.append(conversation(), [record("secret", JSON.stringify(SECRET))]);
  await store.close();
  const file = fileOf(directory);
  const digest = async () => {
    const names = await readdir(directory, { recursive: true });
    return JSON.stringify([names.sort(), await readFile(file, "utf8")]);
  };
  return { directory, file, digest };
}

async function expectRefused(directory: string): Promise<void> {
  const { store } = await openStore({ directory });
  const locks = vi.spyOn(fs, "link");
  const calls = [
    () => store.read(conversation()),
    () => store.read(conversation(), { last: 1, withFirst: true, onCorrupt: "skip" }),
    () => store.append(conversation(), [record("planted")]),
    () => store.replace(conversation(), { fromId: "secret", throughId: "secret" }, []),
    () => store.clear(conversation()),
  ];
  for (const call of calls) {
    expect(await codeOf(call())).toBe("unauthorized");
  }
  if ((await lstat(fileOf(directory)).catch(() => undefined))?.isSymbolicLink() !== true) {
    // Behind a linked directory not even a lock is made.
    expect(locks).not.toHaveBeenCalled();
  }
  locks.mockRestore();
  const listed = await store.list({ allOwners: true }).catch((error: unknown) => error);
  expect(JSON.stringify(listed)).not.toContain("session-1");
}

describe("a planted link", () => {
  test.each(["file", "source directory", "owner directory"])("in the place of a %s is refused", async (place) => {
    const target = await outside();
    const before = await target.digest();
    const directory = join(await temporaryDirectory(), "store");
    const file = fileOf(directory);
    const at = { file, "source directory": dirname(file), "owner directory": dirname(dirname(file)) }[place] ?? "";
    const to = place === "file" ? target.file : at.replace(directory, target.directory);
    await mkdir(dirname(at), { recursive: true });
    await symlink(to, at);
    await expectRefused(directory);
    expect(await target.digest()).toBe(before);
  });

  test.each(["file", "source directory", "owner directory"])("to nothing, at a %s, is refused", async (place) => {
    const directory = join(await temporaryDirectory(), "store");
    const file = fileOf(directory);
    const at = { file, "source directory": dirname(file), "owner directory": dirname(dirname(file)) }[place] ?? "";
    await mkdir(dirname(at), { recursive: true });
    const nowhere = join(dirname(directory), "nowhere");
    await symlink(nowhere, at);
    await expectRefused(directory);
    expect(await readdir(dirname(directory))).toEqual(["store"]);
  });

  test("that replaces a file which is open already is refused as well", async () => {
    const target = await outside();
    const before = await target.digest();
    const { store, directory } = await openStore();
    await store.append(conversation(), records("a", 2));
    await store.read(conversation());
    await rename(fileOf(directory), `${fileOf(directory)}.old`);
    await symlink(target.file, fileOf(directory));
    expect(await codeOf(store.read(conversation()))).toBe("unauthorized");
    expect(await codeOf(store.append(conversation(), [record("b")]))).toBe("unauthorized");
    expect(await target.digest()).toBe(before);
  });

  test("in the place of the writers' directory or of a lock is refused", async () => {
    const target = await outside();
    const before = await target.digest();
    const { store, directory } = await openStore();
    await mkdir(directory);
    await symlink(target.directory, join(directory, "_writers"));
    expect(await codeOf(store.append(conversation(), [record("a")]))).toBe("unauthorized");
    expect(await target.digest()).toBe(before);

    const { store: other, directory: second } = await openStore();
    await other.append(conversation(), [record("a")]);
    await symlink(target.file, `${fileOf(second)}.lock`);
    expect(await codeOf(other.append(conversation(), [record("b")]))).toBe("unauthorized");
    expect(await target.digest()).toBe(before);
  });

  test("of the hard kind leads to another conversation, which its header gives away", async () => {
    const target = await outside();
    const { store, directory } = await openStore();
    await store.append(conversation("other"), [record("a")]);
    await link(target.file, fileOf(directory, conversation("mine")));
    expect(await codeOf(store.read(conversation("mine")))).toBe("corrupt");
    expect(await codeOf(store.append(conversation("mine"), [record("b")]))).toBe("corrupt");
  });

  test("as the root is followed: whoever configures it may choose where it leads", async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, "volume"));
    await symlink(join(directory, "volume"), join(directory, "store"));
    const { store } = await openStore({ directory: join(directory, "store") });
    await store.append(conversation(), records("a", 2));
    expect((await store.read(conversation())).records).toEqual(records("a", 2));
  });
});

test("a pipe in the place of a file is refused and never waited for", async () => {
  const { store, directory } = await openStore();
  await store.append(conversation("other"), [record("a")]);
  expect(spawnSync("mkfifo", [fileOf(directory)]).status).toBe(0);
  expect(await codeOf(store.read(conversation()))).toBe("unauthorized");
  expect(await codeOf(store.append(conversation(), [record("a")]))).toBe("unauthorized");
  expect((await store.list({ owner: "owner-1" })).items).toHaveLength(1);
});

test("names that try to leave the directory stay in it", async () => {
  const { store, directory } = await openStore();
  const names = [
    "../s",
    "a/../../o",
    "/abs",
    "C:\\o",
    "\\\\host\\o",
    "%2e%2e/o",
    "a\0.jsonl",
    "NUL.txt",
    "com1",
    "x.",
    "x ",
    "..",
    ".",
  ];
  for (const name of names) {
    for (const key of [conversation(name), conversation("s", { owner: name }), conversation("s", { source: name })]) {
      await store.append(key, [record("m", JSON.stringify(key))]);
    }
  }
  for (const name of names) {
    for (const key of [conversation(name), conversation("s", { owner: name }), conversation("s", { source: name })]) {
      expect((await store.read(key)).records).toEqual([record("m", JSON.stringify(key))]);
    }
  }
  expect(await readdir(dirname(directory))).toEqual(["store"]);
  await writeFile(join(directory, "stray.txt"), "");
  expect((await store.list({ allOwners: true }, { limit: 1000 })).items).toHaveLength(names.length * 3);
});
