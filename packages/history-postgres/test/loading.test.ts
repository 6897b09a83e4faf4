import { afterEach, expect, inject, test, vi } from "vitest";
import type { PostgresConnectionOptions, PostgresHistoryStore, PostgresHistoryStoreOptions } from "../src/index.ts";
import { conversation, idsOf, records, rejection } from "./support/conversation.ts";
import { freshSchema, openPool } from "./support/postgres.ts";

const NOWHERE = { connectionString: "postgres://127.0.0.1:9/nowhere" };

/** A store of a package whose on-demand part is loaded like this. */
async function openWith(
  load: () => object | Promise<object>,
  connection: PostgresConnectionOptions,
  options?: PostgresHistoryStoreOptions,
): Promise<PostgresHistoryStore> {
  vi.resetModules();
  vi.doMock("../src/engine.ts", load);
  const { PostgresHistoryStore: Store } = await import("../src/index.ts");
  return new Store(connection, options);
}

/** Every call that needs the server. */
function callsOf(store: PostgresHistoryStore): Record<string, () => Promise<unknown>> {
  return {
    append: () => store.append(conversation(), records("a", 1)),
    read: () => store.read(conversation()),
    clear: () => store.clear(conversation()),
    replace: () => store.replace(conversation(), { fromId: "a-0", throughId: "a-0" }, records("b", 1)),
    list: () => store.list({ owner: null }),
    erase: () => store.erase({ owner: null }),
    deleteExpired: () => store.deleteExpired(),
    verifySchema: () => store.verifySchema(),
  };
}

afterEach(() => vi.doUnmock("../src/engine.ts"));

test("calls made before the engine is there are carried out in order, with their arguments as they were", async () => {
  let load: () => void = () => {};
  const isWanted = new Promise<void>((resolve) => {
    load = resolve;
  });
  const engine = () => isWanted.then(() => vi.importActual<object>("../src/engine.ts"));
  const store = await openWith(engine, { pool: openPool({ max: 1 }) }, { schema: freshSchema(), timeoutMs: 20_000 });

  const key = { ...conversation() };
  const first = [...records("a", 2)];
  const second = records("b", 2).map((record) => ({ ...record }));
  const range = { fromId: "a-0", throughId: "a-1" };
  const options = { last: 2, withFirst: true };
  const filter = { owner: key.owner };
  const controller = new AbortController();
  const calls = [
    store.append(key, first),
    store.append(key, second),
    store.replace(key, range, records("summary", 1)),
  ] as const;
  const read = store.read(key, options);
  const listed = store.list(filter);
  const aborted = expect(store.append(key, records("aborted", 1), { signal: controller.signal })).rejects.toThrow(
    "gone",
  );
  key.session = "another";
  first.push(...records("later", 1));
  second[0]!.data = '"changed"';
  range.throughId = "b-1";
  Object.assign(options, { last: 1, withFirst: false });
  filter.owner = "another";
  controller.abort(new Error("gone"));
  load();

  await Promise.all(calls);
  await aborted;
  const page = await read;
  expect(page.records).toEqual(records("b", 2));
  expect(page.first?.id).toBe("summary-0");
  expect((await listed).items.map((item) => item.key)).toEqual([conversation()]);
  expect(idsOf((await store.read(conversation())).records)).toEqual(["summary-0", "b-0", "b-1"]);
});

test("bad arguments are refused, and a store is closed, without the engine", async () => {
  const store = await openWith(() => new Promise<object>(() => {}), NOWHERE);
  expect(await rejection(store.append(conversation(), [{ id: "", data: "1" }]))).toMatchObject({
    code: "configuration",
  });
  expect(await rejection(store.deleteExpired({ batchSize: 0 }))).toMatchObject({ code: "configuration" });
  await store.close();
});

test("an engine that is not loaded in time makes every call a timeout", async () => {
  const store = await openWith(() => new Promise<object>(() => {}), NOWHERE, { timeoutMs: 50 });
  for (const [name, call] of Object.entries(callsOf(store))) {
    expect((await rejection(call())).code, name).toBe("timeout");
  }
});

test("an engine that cannot be loaded makes every call unavailable, and the store is closed all the same", async () => {
  const load = () => {
    throw new Error("no such file");
  };
  const store = await openWith(load, NOWHERE);
  for (const [name, call] of Object.entries(callsOf(store))) {
    const error = await rejection(call());
    expect(error, name).toMatchObject({ code: "unavailable", provider: "history-postgres" });
    expect(error.message).toContain(`${name}: a part of the package could not be loaded`);
    expect(error.cause).toBeInstanceOf(Error);
  }
  await store.close();
});

test("a store that is closed before the engine is there does what was called before", async () => {
  const schema = freshSchema();
  const engine = () => vi.importActual<object>("../src/engine.ts");
  const open = () => openWith(engine, { connectionString: inject("postgresUrl") }, { schema, timeoutMs: 20_000 });
  const store = await open();
  const appended = store.append(conversation(), records("a", 1));
  await store.close();
  await appended;
  const next = await open();
  expect(idsOf((await next.read(conversation())).records)).toEqual(["a-0"]);
  await next.close();
});
