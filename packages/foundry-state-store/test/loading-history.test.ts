import { type HistoryRecord, isAgentFrameworkError } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { FoundryHistoryStore, FoundryStateStore, LocalStateStore, runWithCallId } from "../src/index.ts";
import { openEmulator } from "./support/emulator.ts";
import { temporaryFolder } from "./support/folder.ts";
import { breakEngine, holdEngine } from "./support/loading.ts";
import { failure } from "./support/scripted.ts";

const KEY = { owner: "ann", source: "history", session: "s-1" };

const PATIENT = { timeoutMs: 60_000 };

const MISSING = Object.assign(new Error("no such file"), { code: "ERR_MODULE_NOT_FOUND" });

function record(id: string): HistoryRecord {
  return { id, data: JSON.stringify({ text: id }) };
}

async function openState(): Promise<LocalStateStore> {
  return LocalStateStore.getOrCreate("c", { directory: await temporaryFolder(), itemTtlSeconds: -1, ...PATIENT });
}

async function keysOf(state: FoundryStateStore): Promise<string[]> {
  return (await state.listItemKeys()).keys.map(({ key }) => key);
}

async function idsOf(store: FoundryHistoryStore): Promise<string[]> {
  return (await store.read(KEY)).records.map(({ id }) => id);
}

/** So many turns of the queue of promises. */
async function ticks(count: number): Promise<void> {
  for (let tick = 0; tick < count; tick += 1) {
    await undefined;
  }
}

function everyCall(store: FoundryHistoryStore, signal?: AbortSignal): Promise<unknown>[] {
  return [
    store.append(KEY, [record("a")], { signal }),
    store.read(KEY, { signal }),
    store.clear(KEY, { signal }),
    store.list({ owner: "ann" }, { signal }),
  ];
}

describe("calls that are made before the engine is there", () => {
  test("are carried out in their order, with what they were given at the time", async () => {
    const state = await openState();
    const engine = await holdEngine("history");
    const store = new FoundryHistoryStore(state, PATIENT);
    const key = { ...KEY };
    const records = [record("a")];
    const first = store.append(key, records);
    records[0] = record("other");
    records.push(record("more"));
    key.session = "elsewhere";
    const second = store.append(KEY, [record("b")], { ifVersion: "" });
    engine.end();
    expect(await first).toMatchObject({ appended: 1 });
    expect(await failure(second)).toMatchObject({ code: "conflict" });
    expect(await idsOf(store)).toEqual(["a"]);
    expect(await new FoundryHistoryStore(state, PATIENT).read({ ...KEY, session: "elsewhere" })).toMatchObject({
      records: [],
    });
  });

  test("read and list what they were asked for, whatever becomes of their options", async () => {
    const state = await openState();
    const earlier = new FoundryHistoryStore(state, PATIENT);
    for (const id of ["a", "b", "c"]) {
      await earlier.append(KEY, [record(id)]);
    }
    await earlier.append({ ...KEY, owner: "bob" }, [record("other")]);
    const engine = await holdEngine("history");
    const store = new FoundryHistoryStore(state, PATIENT);
    const options = { last: 2, withFirst: true };
    const filter = { owner: "bob" };
    const read = store.read(KEY, options);
    const listed = store.list(filter);
    options.last = 1;
    options.withFirst = false;
    filter.owner = "ann";
    engine.end();
    const page = await read;
    expect([page.records.map(({ id }) => id), page.first?.id]).toEqual([["b", "c"], "a"]);
    expect((await listed).items.map(({ key }) => key.owner)).toEqual(["bob"]);
  });

  test("are not overtaken by one that comes when it is, at whatever tick", async () => {
    const state = await openState();
    for (let late = 0; late < 12; late += 1) {
      const key = { ...KEY, session: `tick-${late}` };
      const engine = await holdEngine("history");
      const store = new FoundryHistoryStore(state, PATIENT);
      const calls = ["a", "b", "c"].map((id) => store.append(key, [record(id)]));
      engine.end();
      await ticks(late);
      await Promise.all([...calls, store.append(key, [record("late")])]);
      expect((await store.read(key)).records.map(({ id }) => id)).toEqual(["a", "b", "c", "late"]);
    }
  });

  test("go on behalf of the caller who made them", async () => {
    const { endpoint } = await openEmulator({ users: { "call-a": "ann", "call-b": "bob" } });
    const options = { endpoint, itemTtlSeconds: -1, userIsolation: true, ...PATIENT };
    const state = await FoundryStateStore.getOrCreate("conversations", options);
    const engine = await holdEngine("history");
    const store = new FoundryHistoryStore(state, PATIENT);
    const calls = ["call-a", "call-b"].map((id) => runWithCallId(id, () => store.append(KEY, [record(id)])));
    engine.end();
    await Promise.all(calls);
    for (const id of ["call-a", "call-b"]) {
      expect(await runWithCallId(id, () => idsOf(store))).toEqual([id]);
    }
  });

  test("end with their abort, and are not carried out later", async () => {
    const state = await openState();
    const engine = await holdEngine("history");
    const store = new FoundryHistoryStore(state, PATIENT);
    const stop = new AbortController();
    const calls = everyCall(store, stop.signal).map(failure);
    const reason = new Error("enough");
    stop.abort(reason);
    expect(await Promise.all(calls)).toEqual([reason, reason, reason, reason]);
    engine.end();
    expect(await idsOf(store)).toEqual([]);
    expect(await keysOf(state)).toEqual([]);
  });

  test("end with their time, and nobody needs to ask what became of them", async () => {
    const state = await openState();
    const engine = await holdEngine("history");
    const store = new FoundryHistoryStore(state, { timeoutMs: 20 });
    const errors = await Promise.all(everyCall(store).map(failure));
    expect(errors.map(({ code }) => code)).toEqual(["timeout", "timeout", "timeout", "timeout"]);
    engine.end();
    // Behind whatever might still be carried out.
    await new FoundryHistoryStore(state, PATIENT).read(KEY);
    expect(await keysOf(state)).toEqual([]);
  });

  test("are refused as ever when they are bad", async () => {
    const state = await openState();
    await holdEngine("history");
    const store = new FoundryHistoryStore(state, PATIENT);
    const bad: [string, Promise<unknown>][] = [
      ["session", store.append({ ...KEY, session: "" }, [record("a")])],
      ["records[0].id", store.append(KEY, [{ id: "", data: "{}" }])],
      ["last", store.read(KEY, { last: 0 })],
      ["before", store.read(KEY, { before: "nowhere" })],
      ["filter", Reflect.apply(store.list, store, [{}])],
      ["limit", store.list({ owner: "ann" }, { limit: 0 })],
      ["cursor", store.list({ owner: "ann" }, { cursor: "nowhere" })],
      ["source", store.clear({ ...KEY, source: "" })],
    ];
    for (const [field, call] of bad) {
      const error = await failure(call);
      expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining(field) });
    }
    expect(() => Reflect.construct(FoundryHistoryStore, [state, { timeoutMs: 0 }])).toThrow(/timeoutMs/);
  });

  test("do not keep a store from being closed", async () => {
    const state = await openState();
    const engine = await holdEngine("history");
    const store = new FoundryHistoryStore(state, PATIENT);
    await store.close();
    expect(engine.begun).toBe(1);
  });
});

describe("an engine that cannot be loaded", () => {
  test("is unavailable for every call, with the cause, and never an unknown outcome", async () => {
    const state = await openState();
    breakEngine("history", MISSING);
    const store = new FoundryHistoryStore(state, PATIENT);
    for (const error of await Promise.all(everyCall(store).map(failure))) {
      expect(isAgentFrameworkError(error, "unavailable") && error.provider).toBe("foundry-state-store");
      expect(error.message).toContain("a part of the package could not be loaded");
      expect(error.cause).toBe(MISSING);
    }
    expect(await keysOf(state)).toEqual([]);
  });

  test("is looked for again by the next call", async () => {
    const state = await openState();
    const engine = breakEngine("history", MISSING);
    const store = new FoundryHistoryStore(state, PATIENT);
    expect(await failure(store.read(KEY))).toMatchObject({ code: "unavailable" });
    engine.repair();
    expect(await store.append(KEY, [record("a")])).toMatchObject({ appended: 1 });
    expect(await idsOf(store)).toEqual(["a"]);
  });

  test("disturbs nobody who makes no call", async () => {
    const state = await openState();
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown) => void rejections.push(reason);
    process.on("unhandledRejection", onRejection);
    try {
      breakEngine("history", MISSING);
      await new FoundryHistoryStore(state).close();
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(rejections).toEqual([]);
    } finally {
      process.off("unhandledRejection", onRejection);
    }
  });
});

test("a class that extends a history store is one", async () => {
  class Named extends FoundryHistoryStore {
    readonly label = "mine";
  }
  const store = new Named(await openState(), PATIENT);
  await store.append(KEY, [record("a")]);
  expect([await idsOf(store), store.label, store instanceof FoundryHistoryStore]).toEqual([["a"], "mine", true]);
});
