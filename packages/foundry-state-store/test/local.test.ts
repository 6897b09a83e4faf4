import { mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentSession, SessionStore } from "@agentfw/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { LocalStateStore } from "../src/index.ts";
import { temporaryFolder } from "./support/folder.ts";
import { prepareChildren } from "./support/processes.ts";
import { failure } from "./support/scripted.ts";

const PATIENT = { timeoutMs: 60_000 };

async function onlyFile(directory: string): Promise<string> {
  const [name = ""] = (await readdir(directory)).filter((entry) => entry.endsWith(".json"));
  return join(directory, name);
}

describe("processes", () => {
  test("four that count one counter under its etag lose no update", async () => {
    const directory = await temporaryFolder();
    const start = await prepareChildren();
    const children = ["a", "b", "c", "d"].map((name) => start({ job: "count", directory, name, times: 10 }));
    expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0, 0, 0]);
    const store = await LocalStateStore.getOrCreate("shared", { directory });
    expect((await store.getItem("counter"))?.value).toEqual({ count: 40 });
  });

  test("one that is killed at any moment loses nothing that was acknowledged, and keeps nobody out for long", async () => {
    const directory = await temporaryFolder();
    const start = await prepareChildren();
    const acknowledged: string[] = [];
    for (let round = 0; round < 2; round += 1) {
      const child = start({ job: "write", directory, name: `round-${round}` });
      await expect.poll(() => child.told.length, { timeout: 30_000, interval: 5 }).toBeGreaterThan(3 + round);
      child.kill();
      await child.ended;
      acknowledged.push(...child.told);
      const store = await LocalStateStore.getOrCreate("shared", { directory, ...PATIENT });
      await store.setItem(`after-${round}`, { round });
      for (const key of [...acknowledged, `after-${round}`]) {
        expect((await store.getItem(key))?.key).toBe(key);
      }
    }
    // What the killed processes were writing goes in time, and nothing else is left.
    for (const name of (await readdir(directory)).filter((entry) => entry.endsWith(".tmp"))) {
      await utimes(join(directory, name), 0, 0);
    }
    await LocalStateStore.getOrCreate("shared", { directory });
    expect(await readdir(directory)).toHaveLength(1);
  }, 60_000);
});

describe("the file", () => {
  test("is one for each store, says which, has a line for each item, and is for its owner alone", async () => {
    const directory = join(await temporaryFolder(), "deep", "er");
    const store = await LocalStateStore.getOrCreate("notes/é", { directory, description: "d", tags: { a: "1" } });
    await store.set("k", '{"n":9007199254740993,"f":1.0}', { tags: { kind: "x" } });
    await store.set("k", '{"of":"ann"}', { owner: "ann" });
    await LocalStateStore.getOrCreate("other", { directory });
    expect(await readdir(directory)).toHaveLength(2);
    const texts = await Promise.all((await readdir(directory)).map((name) => readFile(join(directory, name), "utf8")));
    const text = texts.find((one) => one.includes("notes/é")) ?? "";
    const file = JSON.parse(text);
    expect(file).toMatchObject({
      format: "agentfw-state-store",
      version: 1,
      store: { name: "notes/é", description: "d" },
    });
    expect(file.partitions.map(({ owner }: { owner: string }) => owner)).toEqual([null, "ann"]);
    expect(file.partitions[0].items[0].text).toBe('{"n":9007199254740993,"f":1.0}');
    expect(text.split("\n").filter((line) => line.includes('"key":"k"'))).toHaveLength(2);
    if (process.platform !== "win32") {
      expect((await stat(await onlyFile(directory))).mode & 0o777).toBe(0o600);
    }
  });

  test.each([
    ["no JSON", () => "{", "corrupt"],
    ["another format", () => '{"format":"x"}', "corrupt"],
    ["an item that is none", (text: string) => text.replace('"etag":', '"tag":'), "corrupt"],
    ["another store's", (text: string) => text.replace('"name":"notes"', '"name":"other"'), "corrupt"],
    ["a later version", (text: string) => text.replace('"version":1', '"version":2'), "unsupported"],
  ] as const)("that holds %s is refused by every call, and stays as it is", async (_, damage, code) => {
    const directory = await temporaryFolder();
    const store = await LocalStateStore.getOrCreate("notes", { directory });
    await store.setItem("k", { a: 1 });
    const path = await onlyFile(directory);
    const damaged = damage(await readFile(path, "utf8"));
    await writeFile(path, damaged);
    for (const call of [
      () => store.getItem("k"),
      () => store.setItem("k", { a: 2 }),
      () => store.deleteItem("k"),
      () => store.listItemKeys(),
      () => LocalStateStore.getOrCreate("notes", { directory }),
    ]) {
      expect(await failure(call())).toMatchObject({ code });
    }
    expect(await readFile(path, "utf8")).toBe(damaged);
  });

  test("that is gone means that the store is gone: items read as absent, and writes say so", async () => {
    const directory = await temporaryFolder();
    const store = await LocalStateStore.getOrCreate("notes", { directory });
    await store.setItem("k", { a: 1 });
    expect([await store.deleteStore(), await store.deleteStore()]).toEqual([true, false]);
    expect(await store.getItem("k")).toBeUndefined();
    for (const call of [
      () => store.setItem("k", {}),
      () => store.deleteItem("k"),
      () => store.listItemKeys(),
      () => store.getStore(),
      () => store.updateStore({}),
    ]) {
      expect(await failure(call())).toMatchObject({ code: "not_found" });
    }
    const again = await LocalStateStore.getOrCreate("notes", { directory });
    expect((await again.listItemKeys()).keys).toEqual([]);
  });

  test("may not be where a file is, nor where nobody may write", async () => {
    const directory = await temporaryFolder();
    await writeFile(join(directory, "file"), "");
    expect(await failure(LocalStateStore.getOrCreate("n", { directory: join(directory, "file") }))).toMatchObject({
      code: "unavailable",
    });
  });

  test("grows no further by what has expired", async () => {
    const directory = await temporaryFolder();
    let now = 1_700_000_000_000;
    const store = await LocalStateStore.getOrCreate("notes", { directory, itemTtlSeconds: 10, now: () => now });
    for (let round = 0; round < 5; round += 1) {
      await store.setItem(`k-${round}`, { filler: "x".repeat(1_000) });
      now += 11_000;
    }
    expect((await readFile(await onlyFile(directory), "utf8")).match(/"key":/g)).toHaveLength(1);
  });
});

describe("locks", () => {
  test("one that a dead process has left is taken over", async () => {
    const directory = await temporaryFolder();
    const store = await LocalStateStore.getOrCreate("notes", { directory, ...PATIENT });
    await mkdir(`${await onlyFile(directory)}.lock`);
    await store.setItem("k", { a: 1 });
    expect((await store.getItem("k"))?.value).toEqual({ a: 1 });
  });

  test("a write that waits for one ends at its deadline, or with its abort, and has written nothing; reads do not wait", async () => {
    const directory = await temporaryFolder();
    const store = await LocalStateStore.getOrCreate("notes", { directory, timeoutMs: 2_500 });
    await store.setItem("k", { a: 1 });
    const lock = `${await onlyFile(directory)}.lock`;
    await mkdir(lock);
    // Somebody is alive behind it, and renews it.
    const renew = setInterval(() => void utimes(lock, new Date(), new Date()).catch(() => undefined), 100);
    onTestFinished(() => clearInterval(renew));
    expect(await failure(store.setItem("k", { a: 2 }))).toMatchObject({ code: "timeout" });
    const controller = new AbortController();
    const pending = failure(store.setItem("k", { a: 3 }, { signal: controller.signal }));
    controller.abort();
    expect(await pending).toMatchObject({ name: "AbortError" });
    expect((await store.getItem("k"))?.value).toEqual({ a: 1 });
  });
});

describe("who", () => {
  test("call ids are accepted and mean nothing; owners are kept apart", async () => {
    const store = await LocalStateStore.getOrCreate("notes", { directory: await temporaryFolder() });
    await store.setItem("k", { a: 1 }, { callId: "one" });
    expect((await store.withCallId("two").getItem("k"))?.value).toEqual({ a: 1 });
    expect(await store.get("k", { owner: "ann" })).toBeUndefined();
    expect(await store.get("k", { owner: "null" })).toBeUndefined();
    expect((await store.get("k", { owner: null }))?.text).toBe('{"a":1}');
  });

  test("sessions of owners are kept as in any other state store", async () => {
    const directory = await temporaryFolder();
    const sessions = new SessionStore(await LocalStateStore.getOrCreate("sessions", { directory }));
    await sessions.save(new AgentSession({ sessionId: "s", owner: "ann", state: { visits: 1 } }));
    const others = new SessionStore(await LocalStateStore.getOrCreate("sessions", { directory }));
    await others.update("s", { owner: "ann" }, (session) => {
      session.state["visits"] = 2;
    });
    expect((await sessions.load("s", { owner: "ann" }))?.state).toEqual({ visits: 2 });
    expect(await sessions.load("s", { owner: "bob" })).toBeUndefined();
    expect((await sessions.list({ owner: "ann" })).sessionIds).toEqual(["s"]);
  });
});

test.each([
  [{ directory: "" }, "directory"],
  [{ directory: "a\0b" }, "directory"],
  [{ endpoint: "https://h" }, "endpoint"],
  [{ now: 5 }, "now"],
  [{ allowUnisolatedLocal: 1 }, "allowUnisolatedLocal"],
])("refuses %j", async (options, field) => {
  const call = Reflect.apply(LocalStateStore.getOrCreate, LocalStateStore, ["notes", options]);
  expect(await failure(call)).toMatchObject({ code: "configuration", message: expect.stringContaining(field) });
});
