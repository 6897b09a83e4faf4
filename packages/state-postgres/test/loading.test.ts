import { afterEach, expect, inject, test, vi } from "vitest";
import type { PostgresConnectionOptions, PostgresStateStore, PostgresStateStoreOptions } from "../src/index.ts";
import { freshSchema, keysOf, openPool, rejection } from "./support/postgres.ts";

const NOWHERE = { connectionString: "postgres://127.0.0.1:9/nowhere" };

/** A store of a package whose on-demand part is loaded like this. */
async function openWith(
  load: () => object | Promise<object>,
  connection: PostgresConnectionOptions,
  options?: PostgresStateStoreOptions,
): Promise<PostgresStateStore> {
  vi.resetModules();
  vi.doMock("../src/engine.ts", load);
  const { PostgresStateStore: Store } = await import("../src/index.ts");
  return new Store(connection, options);
}

/** Every call that needs the server. */
function callsOf(store: PostgresStateStore): Record<string, () => Promise<unknown>> {
  return {
    create: () => store.create("a", "{}"),
    set: () => store.set("a", "{}"),
    get: () => store.get("a"),
    delete: () => store.delete("a"),
    listKeys: () => store.listKeys(),
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

  const tags = { kind: "x" };
  const options = { owner: "ann", tags };
  const page = { owner: "ann", tags, limit: 1 };
  const controller = new AbortController();
  const created = store.create("a", '{"step":1}', options);
  const set = store.set("a", '{"step":2}', options);
  const got = store.get("a", options);
  const other = store.set("b", "{}", { owner: "ann" });
  const listed = store.listKeys(page);
  const deleted = store.delete("b", { owner: "ann" });
  const aborted = expect(store.set("a", "{}", { owner: "ann", signal: controller.signal })).rejects.toThrow("gone");
  tags.kind = "changed";
  options.owner = "another";
  page.limit = 100;
  controller.abort(new Error("gone"));
  load();

  await Promise.all([created, other, aborted]);
  const { etag } = await set;
  expect(await got).toEqual({ key: "a", text: '{"step":2}', etag, tags: { kind: "x" } });
  expect(await listed).toEqual({ keys: [{ key: "a", etag, tags: { kind: "x" } }] });
  expect(await deleted).toBe(true);
  expect(await keysOf(store, { owner: "ann" })).toEqual(["a"]);
  expect((await store.get("a", { owner: "ann" }))?.etag).toBe(etag);
});

test("bad arguments are refused, and a store is closed, without the engine", async () => {
  const store = await openWith(() => new Promise<object>(() => {}), NOWHERE);
  expect(await rejection(store.set("a", "[]"))).toMatchObject({ code: "configuration" });
  expect(await rejection(store.listKeys({ cursor: "x" }))).toMatchObject({ code: "configuration" });
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
    expect(error, name).toMatchObject({ code: "unavailable", provider: "state-postgres" });
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
  const created = store.create("a", "{}");
  await store.close();
  await created;
  const next = await open();
  expect(await keysOf(next)).toEqual(["a"]);
  await next.close();
});
