import * as fs from "node:fs";
import { mkdir, readdir, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { lock } from "proper-lockfile";
import { expect, test } from "vitest";
import { LocalStateStore } from "../src/index.ts";
import { type LockFileSystem, lockFileSystem } from "../src/lock-file-system.ts";
import { temporaryFolder } from "./support/folder.ts";
import { prepareChildren } from "./support/processes.ts";
import { failure } from "./support/scripted.ts";

const STALE_MS = 3_000;

interface State {
  readonly isHeld: boolean;
  readonly isSure: boolean;
}

/** The file system as a process has it that waits for a lock, or that has one. */
function fileSystemOf({ isHeld, isSure }: State): LockFileSystem {
  return lockFileSystem({ staleMs: STALE_MS, isHeld: () => isHeld, isSure: () => isSure });
}

const WAITING = { isHeld: false, isSure: false };

/** Takes the lock of a path, without waiting for it. */
function take(path: string, calls: object = fileSystemOf(WAITING)): Promise<unknown> {
  return lock(path, { realpath: false, stale: STALE_MS, update: 1_000, onCompromised: () => {}, fs: calls });
}

function remove(path: string, calls: LockFileSystem): Promise<unknown> {
  return new Promise((resolve) => calls.rmdir(path, resolve));
}

/** What a process that died long ago has left. */
async function leave(path: string): Promise<void> {
  await mkdir(path);
  await utimes(path, 0, 0);
}

test("of two that find one stale lock, the slower leaves the lock that the faster has made", async () => {
  const path = join(await temporaryFolder(), "file");
  await leave(`${path}.lock`);
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let tell = () => {};
  const looked = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const slowly = (at: string, done: (error: unknown, status: fs.Stats) => void) =>
    fs.stat(at, (error, status) => {
      tell();
      void gate.then(() => done(error, status));
    });
  const slower = failure(take(path, { ...fileSystemOf(WAITING), stat: slowly }));
  await looked;
  await take(path);
  const made = await stat(`${path}.lock`);
  goOn();
  expect(await slower).toMatchObject({ code: "ELOCKED" });
  expect((await stat(`${path}.lock`)).ctimeMs).toBe(made.ctimeMs);
});

test("a stale lock is left to whoever is at it, unless that one died over it", async () => {
  const path = join(await temporaryFolder(), "file");
  await leave(`${path}.lock`);
  await mkdir(`${path}.lock.takeover`);
  expect(await failure(take(path))).toMatchObject({ code: "ELOCKED" });
  await utimes(`${path}.lock.takeover`, 0, 0);
  expect(await failure(take(path))).toMatchObject({ code: "ELOCKED" });
  await take(path);
});

test("a holder gives up its own lock, and leaves one that may be somebody else's by now", async () => {
  const path = join(await temporaryFolder(), "file.lock");
  await mkdir(path);
  expect(await remove(path, fileSystemOf({ isHeld: true, isSure: false }))).toBe(null);
  fileSystemOf({ isHeld: true, isSure: false }).rmdirSync(path);
  expect((await stat(path)).isDirectory()).toBe(true);
  expect(await remove(path, fileSystemOf({ isHeld: true, isSure: true }))).toBe(null);
  expect(await failure(stat(path))).toMatchObject({ code: "ENOENT" });
});

test("processes that start behind the lock of a dead one lose no update, and leave nothing but the file", async () => {
  const directory = await temporaryFolder();
  const store = await LocalStateStore.getOrCreate("shared", { directory, timeoutMs: 60_000 });
  await store.setItem("counter", { count: 0 });
  const [file = ""] = await readdir(directory);
  await leave(join(directory, `${file}.lock`));
  const start = await prepareChildren();
  const children = Array.from({ length: 6 }, (_, index) =>
    start({ job: "count", directory, name: `${index}`, times: 3 }),
  );
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual(Array(6).fill(0));
  expect((await store.getItem("counter"))?.value).toEqual({ count: 18 });
  expect(await readdir(directory)).toEqual([file]);
}, 60_000);
