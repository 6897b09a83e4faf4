import { readdirSync } from "node:fs";
import { readdir, symlink, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { newIdentity } from "../src/writer-identity.ts";
import { numberIn } from "./support/checked.ts";
import { beginOn, indexLines } from "./support/memory.ts";
import { prepareChildren } from "./support/processes.ts";
import { codeOf, openStore } from "./support/store.ts";

/** Names that could hold up a writer, or that nobody will ever finish. */
async function leftOver(root: string): Promise<string[]> {
  return (await readdir(join(root, "_store"))).filter((name) => name !== ".gitignore");
}

describe("a process that is killed", () => {
  test("at random points of 500 writes leaves every file whole, old or new, and an index that tells the truth", async () => {
    const start = await prepareChildren();
    const { store, root } = await openStore();
    const acknowledged = new Map<string, number>();
    for (let from = 0, kills = 0; from < 500; ) {
      const child = start({ job: "write", root, name: "writer", from, times: 500 - from });
      // Some kills come before the first write is done, most in the middle of a later one.
      const last = from + (kills === 0 ? 0 : Math.floor(Math.random() * 60));
      if (last < 500) {
        await child.heard(`wrote ${last}`).catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
        child.kill();
        kills += 1;
      }
      await child.ended;
      const numbers = child.told.map((line) => Number(/^wrote (\d+)$/.exec(line)?.[1]));
      for (const number of numbers) {
        acknowledged.set(`file-${number % 7}.md`, number);
      }
      const run = await beginOn(store);
      const files = await store.list("users/42");
      expect(indexLines(run)).toHaveLength(files.length);
      for (const path of files) {
        const name = path.slice("users/42/".length);
        const number = numberIn(String(await run.call("read", { file_name: name })));
        // What was acknowledged is there, or the one write that followed it.
        expect([acknowledged.get(name), (acknowledged.get(name) ?? (number % 7) - 7) + 7]).toContain(number);
        expect(run.index).toContain(`- "${name}": "number ${number}"`);
      }
      from = (numbers.at(-1) ?? from - 1) + 1;
    }
    expect(acknowledged.size).toBe(7);
    // The next store clears away what the dead left behind.
    const { store: next } = await openStore({ root });
    await next.write("users/42/last.md", "text");
    expect(await leftOver(root)).toEqual([]);
  }, 120_000);

  test("with a lock in its hands holds nobody up", async () => {
    const start = await prepareChildren();
    const { store, root, events } = await openStore();
    await store.write("users/42/a.md", "before");
    const child = start({ job: "hold", root, name: "holder" });
    await child.heard("holding");
    const { store: waiting } = await openStore({ root, timeoutMs: 300 });
    expect(await codeOf(waiting.write("users/42/a.md", "meanwhile"))).toBe("timeout");
    expect((await waiting.read("users/42/a.md"))?.text).toBe("before");
    await waiting.write("users/43/a.md", "another scope");
    child.kill();
    await child.ended;
    await store.write("users/42/a.md", "after");
    expect(events.map(({ type }) => type)).toContain("lock_broken");
    expect(await store.exists("users/42/held.md")).toBe(false);
  }, 60_000);
});

describe("several processes on one scope", () => {
  test("lose no change of one file", async () => {
    const start = await prepareChildren();
    const { store, root } = await openStore();
    await (await beginOn(store)).call("write", { file_name: "count.md", content: "end", description: "who was here" });
    const children = ["a", "b", "c"].map((name) => start({ job: "count", root, name, times: 20 }));
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0]);
    const text = String(await (await beginOn(store)).call("read", { file_name: "count.md" }));
    const expected = ["a", "b", "c"].flatMap((name) => Array.from({ length: 20 }, (_, number) => `${name}-${number}`));
    expect(text.split(" ").sort()).toEqual([...expected, "end"].sort());
  }, 120_000);

  test("keep to the limit of files together", async () => {
    const start = await prepareChildren();
    const { store, root } = await openStore();
    const children = ["a", "b", "c"].map((name) => start({ job: "fill", root, name, times: 15, maxFiles: 20 }));
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0]);
    const told = children.flatMap((child) => child.told);
    expect(told.filter((line) => line === "saved")).toHaveLength(20);
    expect(await store.list("users/42")).toHaveLength(20);
  }, 120_000);
});

test("a process that could open no file for a while is known by its neighbors all the same", async () => {
  const start = await prepareChildren();
  const { root } = await openStore();
  const starved = start({ job: "starve", root, name: "starved", openFiles: 60 });
  expect(await starved.ended).toBe(0);
  expect(starved.told.filter((line) => line.startsWith("Error: could not write")).length).toBeGreaterThan(2);
  const [identity = ""] = starved.told.slice(-1);
  const [space] = (await newIdentity()).split(".");
  expect(identity).toMatch(new RegExp(`^identity ${space}\\.${starved.process.pid}\\.[1-9]\\d*\\.`));
}, 60_000);

test("a lock of an unknown machine is respected until it is old, and then removed", async () => {
  const { store, root, events } = await openStore({ timeoutMs: 300 });
  await store.write("a.md", "text");
  const key = "e3b0c44298fc1c149afbf4c8996fb924";
  const foreign = `${key}.000000001.${"0".repeat(16)}.7.7.${"0".repeat(16)}.lock`;
  await writeFile(join(root, "_store", foreign), "");
  expect(await codeOf(store.write("b.md", "text"))).toBe("timeout");
  await vi.waitFor(async () => expect(await leftOver(root)).toEqual([foreign]));
  const now = performance.now.bind(performance);
  const later = vi.spyOn(performance, "now").mockImplementation(() => now() + 10_001);
  onTestFinished(() => later.mockRestore());
  await store.write("b.md", "text");
  expect(events.map(({ type }) => type)).toEqual(["lock_broken"]);
  expect(await leftOver(root)).toEqual([]);
});

test("what unknown machines left behind is cleared after a day", async () => {
  const { store, root } = await openStore();
  await store.write("a.md", "text");
  const old = join(root, "_store", `${"0".repeat(16)}.7.7.${"0".repeat(16)}.tmp`);
  const fresh = join(root, "_store", `${"0".repeat(16)}.7.7.${"1".repeat(16)}.tmp`);
  const yesterday = new Date(Date.now() - 25 * 3_600_000);
  await Promise.all([writeFile(old, ""), writeFile(fresh, ""), writeFile(join(root, "_store", "other"), "")]);
  await utimes(old, yesterday, yesterday);
  const { store: next } = await openStore({ root });
  await next.write("b.md", "text");
  expect((await leftOver(root)).sort()).toEqual([basename(fresh), "other"]);
});

test("no call leaves anything open", async () => {
  const { store, root } = await openStore({ maxFiles: 3 });
  await store.write("dir/a.md", "text");
  await symlink(root, join(root, "dir", "link"));
  const count = () => readdirSync("/proc/self/fd").length;
  const before = count();
  for (let turn = 0; turn < 5; turn += 1) {
    const calls = [
      "dir/a.md",
      "dir/b.md",
      "dir/c.md",
      "dir/d.md",
      "dir/link",
      "dir/link/x.md",
      "dir",
      "x/y/z.md",
    ].flatMap((path) => [
      store.read(path),
      store.write(path, "text"),
      store.write(path, "text", { ifMatch: "x" }),
      store.exists(path),
      store.list(path),
      store.search("text", { directory: path, limit: 1 }),
      store.search("text", { directory: path, timeoutMs: 1 }),
      store.delete(path),
    ]);
    await Promise.allSettled(calls);
  }
  await store.close();
  await vi.waitFor(() => expect(count()).toBeLessThanOrEqual(before), { timeout: 10_000 });
});
