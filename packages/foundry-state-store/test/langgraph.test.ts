import { type Checkpoint, ERROR, emptyCheckpoint, INTERRUPT, uuid6 } from "@langchain/langgraph-checkpoint";
import { describe, expect, test } from "vitest";
import { FoundryStateStore, LocalStateStore, runWithCallId } from "../src/index.ts";
import { FoundryCheckpointSaver } from "../src/langgraph.ts";
import { type Emulator, openEmulator } from "./support/emulator.ts";
import { temporaryFolder } from "./support/folder.ts";
import { failure } from "./support/scripted.ts";

const META = { source: "loop" as const, step: 0, parents: {} };

const ROOT = { configurable: { thread_id: "t", checkpoint_ns: "" } };

interface Opened {
  readonly emulator: Emulator;
  readonly state: FoundryStateStore;
  readonly saver: FoundryCheckpointSaver;
  /** Another saver, as another process would have it. */
  another(): Promise<FoundryCheckpointSaver>;
  /** How many requests there were since the last look. */
  requests(): number;
}

async function open(options: object = {}): Promise<Opened> {
  const emulator = await openEmulator({ users: { "call-a": "ann", "call-b": "bob" } });
  const connect = () =>
    FoundryStateStore.getOrCreate("checkpoints", {
      ...{ endpoint: emulator.endpoint, itemTtlSeconds: -1, timeoutMs: 30_000 },
      ...options,
    });
  const state = await connect();
  const requests = () => emulator.log.splice(0).filter(({ level }) => level === "debug").length;
  requests();
  const another = async () => new FoundryCheckpointSaver(await connect());
  return { emulator, state, saver: new FoundryCheckpointSaver(state), another, requests };
}

function checkpointOf(values: Record<string, unknown>, versions: Record<string, number>): Checkpoint {
  return { ...emptyCheckpoint(), id: uuid6(0), channel_values: values, channel_versions: versions };
}

async function keysOf(state: FoundryStateStore): Promise<string[]> {
  const keys = [];
  for await (const { key } of state.iterateItemKeys()) {
    keys.push(key.slice(0, 2));
  }
  return keys.sort();
}

describe("values", () => {
  test("two branches of a thread that count the same versions keep their own values", async () => {
    const { saver, another } = await open();
    const base = await saver.put(ROOT, checkpointOf({ a: "base", b: "base" }, { a: 1, b: 1 }), META, { a: 1, b: 1 });
    const left = await saver.put(base, checkpointOf({ a: "left", b: "base" }, { a: 2, b: 1 }), META, { a: 2 });
    const right = await saver.put(base, checkpointOf({ a: "right", b: "base" }, { a: 2, b: 1 }), META, { a: 2 });
    const other = await another();
    const next = await other.put(left, checkpointOf({ a: "left", b: "new" }, { a: 2, b: 2 }), META, { b: 2 });
    for (const [config, values] of [
      [left, { a: "left", b: "base" }],
      [right, { a: "right", b: "base" }],
      [next, { a: "left", b: "new" }],
    ] as const) {
      expect((await other.getTuple(config))?.checkpoint.channel_values).toEqual(values);
    }
  });

  test("are not carried over under another version than the one that they were stored under", async () => {
    const { saver, another } = await open();
    const first = await saver.put(ROOT, checkpointOf({ a: "old" }, { a: 1 }), META, { a: 1 });
    for (const writer of [saver, await another()]) {
      const second = await writer.put(first, checkpointOf({ a: "new" }, { a: 2 }), META, {});
      expect((await writer.getTuple(second))?.checkpoint.channel_values).toEqual({});
    }
  });

  test("far beyond what one item holds, of text and of bytes, come back as they were", async () => {
    const { saver, another, state } = await open();
    const values = {
      text: `${"あ😀".repeat(400_000)}"\\`,
      bytes: new Uint8Array(900_000).map((_, index) => index * 31),
      small: "s",
    };
    const config = await saver.put(ROOT, checkpointOf(values, { text: 1, bytes: 1, small: 1 }), META, {
      ...{ text: 1, bytes: 1, small: 1 },
    });
    await saver.putWrites(config, [["text", values.text]], "task");
    const tuple = await (await another()).getTuple(config);
    expect(tuple?.checkpoint.channel_values["text"] === values.text).toBe(true);
    expect(Buffer.from(Object(tuple?.checkpoint.channel_values["bytes"])).equals(Buffer.from(values.bytes))).toBe(true);
    expect(tuple?.checkpoint.channel_values["small"]).toBe("s");
    expect(tuple?.pendingWrites?.[0]?.[2] === values.text).toBe(true);
    expect((await keysOf(state)).filter((kind) => kind === "p1").length).toBeGreaterThan(5);
    await saver.deleteThread("t");
    expect(await keysOf(state)).toEqual([]);
  });

  test("many small ones that are too much for one item come back as they were, in a few requests", async () => {
    const { saver, another, requests, state } = await open();
    const names = Array.from({ length: 3_000 }, (_, index) => `channel-${index}`);
    const values = Object.fromEntries(
      names.map((name, index) => [name, index % 2 ? `${name} ${"あ".repeat(200)}` : new Uint8Array(400).fill(index)]),
    );
    const versions = Object.fromEntries(names.map((name) => [name, 1]));
    const config = await saver.put(ROOT, checkpointOf(values, versions), META, versions);
    const writes = names.map((name): [string, unknown] => [name, values[name]]);
    await saver.putWrites(config, writes, "task");
    expect(requests()).toBeLessThan(30);
    const other = await another();
    requests();
    const tuple = await other.getTuple(config);
    expect(requests()).toBeLessThan(30);
    const plain = (value: unknown) => (value instanceof Uint8Array ? [...value] : value);
    for (const [index, name] of names.entries()) {
      expect(plain(tuple?.checkpoint.channel_values[name])).toEqual(plain(values[name]));
      expect(tuple?.pendingWrites?.[index]?.slice(0, 2)).toEqual(["task", name]);
      expect(plain(tuple?.pendingWrites?.[index]?.[2])).toEqual(plain(values[name]));
    }
    await saver.deleteThread("t");
    expect(await keysOf(state)).toEqual([]);
  });

  test("a value of which something is missing is corrupt, and not another value", async () => {
    const { saver, state, another } = await open();
    const first = await saver.put(ROOT, checkpointOf({ a: "x", b: 1 }, { a: 1, b: 1 }), META, { a: 1, b: 1 });
    const second = await saver.put(first, checkpointOf({ a: "x", b: 2 }, { a: 1, b: 2 }), META, { b: 2 });
    for await (const { key, tags } of state.iterateItemKeys()) {
      if (tags["checkpoint"] === first.configurable?.["checkpoint_id"]) {
        await state.deleteItem(key);
      }
    }
    expect(await failure((await another()).getTuple(second))).toMatchObject({ code: "corrupt" });
    expect(await (await another()).getTuple(first)).toBeUndefined();
  });

  test("names that are no property names of others keep their values", async () => {
    const { saver, another } = await open();
    const values = Object.fromEntries([
      ["__proto__", "p"],
      ["constructor", "c"],
      ["a b/é", "x"],
    ]);
    const versions = Object.fromEntries(Object.keys(values).map((name) => [name, 1]));
    const names = { thread_id: "__proto__", checkpoint_ns: "constructor|a:b/é" };
    const config = await saver.put({ configurable: names }, checkpointOf(values, versions), META, versions);
    const tuple = await (await another()).getTuple(config);
    expect(Object.entries(tuple?.checkpoint.channel_values ?? {}).sort()).toEqual(Object.entries(values).sort());
    expect(tuple?.config.configurable).toEqual({ ...names, checkpoint_id: config.configurable?.["checkpoint_id"] });
    expect(Object.hasOwn(Object.prototype, "a b/é")).toBe(false);
  });
});

describe("writes of tasks", () => {
  test("of many tasks at once, and of one task twice: ordinary ones stay, special ones are replaced", async () => {
    const { saver, another } = await open();
    const config = await saver.put(ROOT, checkpointOf({}, {}), META, {});
    const other = await another();
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? saver : other).putWrites(config, [["a", index]], `task-${String(index).padStart(2, "0")}`),
      ),
    );
    await Promise.all([
      saver.putWrites(
        config,
        [
          ["a", "again"],
          ["b", "more"],
        ],
        "task-00",
      ),
      other.putWrites(config, [[ERROR, "first"]], "task-00"),
      saver.putWrites(config, [[INTERRUPT, "wait"]], "task-00"),
    ]);
    await other.putWrites(config, [[ERROR, "second"]], "task-00");
    const writes = (await saver.getTuple(config))?.pendingWrites ?? [];
    expect(writes.filter(([task]) => task === "task-00").map(([, channel, value]) => [channel, value])).toEqual([
      [INTERRUPT, "wait"],
      [ERROR, "second"],
      ["a", 0],
      ["b", "more"],
    ]);
    expect(writes.filter(([, channel]) => channel === "a").map(([, , value]) => value)).toEqual([...Array(20).keys()]);
  });

  test("come in the order of their paths", async () => {
    const { saver } = await open();
    const config = await saver.put(ROOT, checkpointOf({}, {}), META, {});
    await saver.putWrites(config, [["a", "last"]], "task-a", "path-2");
    await saver.putWrites(config, [["a", "middle"]], "task-b", "path-1");
    await saver.putWrites(config, [["a", "first"]], "task-c");
    expect((await saver.getTuple(config))?.pendingWrites?.map(([, , value]) => value)).toEqual([
      "first",
      "middle",
      "last",
    ]);
  });
});

describe("which one is latest", () => {
  test("goes by the id, among more checkpoints than a page has, whatever order they were written in", async () => {
    const { saver, another } = await open();
    const ids = Array.from({ length: 130 }, (_, step) => uuid6(step));
    const shuffled = ids
      .map((id, index) => [id, (index * 37) % 130] as const)
      .sort(([, left], [, right]) => left - right);
    for (const [id] of shuffled) {
      await saver.put(ROOT, { ...checkpointOf({}, {}), id }, META, {});
    }
    const newest = [...ids].sort().at(-1);
    expect((await (await another()).getTuple(ROOT))?.checkpoint.id).toBe(newest);
    const listed = [];
    for await (const { checkpoint } of saver.list(ROOT, { limit: 3 })) {
      listed.push(checkpoint.id);
    }
    expect(listed).toEqual([...ids].sort().reverse().slice(0, 3));
  });
});

describe("what a call costs", () => {
  test("a put one request, a read of the latest three, and one for each earlier step with values", async () => {
    const { saver, requests, another } = await open();
    let config = await saver.put(ROOT, checkpointOf({ a: 1, b: 1 }, { a: 1, b: 1 }), META, { a: 1, b: 1 });
    requests();
    config = await saver.put(config, checkpointOf({ a: 1, b: 2 }, { a: 1, b: 2 }), META, { b: 2 });
    expect(requests()).toBe(1);
    await saver.putWrites(config, [["a", 2]], "task");
    expect(requests()).toBe(1);
    const other = await another();
    requests();
    await other.getTuple(ROOT);
    // The ids, the checkpoint, the step that holds `a`, the keys of the writes, and the writes.
    expect(requests()).toBe(5);
    await other.put(config, checkpointOf({ a: 2, b: 2 }, { a: 2, b: 2 }), META, { a: 2 });
    expect(requests()).toBe(1);
  });
});

describe("which store", () => {
  test("one whose items expire is refused, and what is none", async () => {
    const state = await LocalStateStore.getOrCreate("checkpoints", { directory: await temporaryFolder() });
    expect(() => new FoundryCheckpointSaver(state)).toThrow(/itemTtlSeconds: -1/);
    expect(() => Reflect.construct(FoundryCheckpointSaver, [{}])).toThrow(/store: /);
  });

  test("one that keeps users apart has a thread of one name for each", async () => {
    const { saver } = await open({ userIsolation: true });
    const [left, right] = await Promise.all(
      ["call-a", "call-b"].map((callId) =>
        runWithCallId(callId, async () => {
          await saver.put(ROOT, checkpointOf({ of: callId }, { of: 1 }), META, { of: 1 });
          return saver.getTuple(ROOT);
        }),
      ),
    );
    expect(left?.checkpoint.channel_values).toEqual({ of: "call-a" });
    expect(right?.checkpoint.channel_values).toEqual({ of: "call-b" });
    // What one user's checkpoint holds is not taken for what another's of the same id does.
    const same = uuid6(0);
    const put = (callId: string, values: Record<string, string>) =>
      runWithCallId(callId, () =>
        saver.put(ROOT, { ...checkpointOf(values, { a: 1 }), id: same }, META, "a" in values ? { a: 1 } : {}),
      );
    const base = await put("call-a", { a: "ann's" });
    await put("call-b", {});
    const child = await runWithCallId("call-a", () =>
      saver.put(base, checkpointOf({ a: "ann's" }, { a: 1 }), META, {}),
    );
    const tuple = await runWithCallId("call-a", () => saver.getTuple(child));
    expect(tuple?.checkpoint.channel_values).toEqual({ a: "ann's" });
    await runWithCallId("call-a", () => saver.deleteThread("t"));
    expect(await runWithCallId("call-a", () => saver.getTuple(ROOT))).toBeUndefined();
    expect(await runWithCallId("call-b", () => saver.getTuple(ROOT))).toBeDefined();
  });
});

test.each([
  [{ configurable: { thread_id: 7 } }, "thread_id"],
  [{ configurable: { thread_id: "" } }, "thread_id"],
  [{ configurable: { thread_id: "t", checkpoint_ns: 7 } }, "checkpoint_ns"],
])("a put with %j is refused", async (config, field) => {
  const { saver, requests } = await open();
  const call = Reflect.apply(saver.put, saver, [config, checkpointOf({}, {}), META, {}]);
  expect(await failure(call)).toMatchObject({ code: "configuration", message: expect.stringContaining(field) });
  expect(requests()).toBe(0);
});

test.each([undefined, 7, ""])("deleting the thread %j is refused", async (thread) => {
  const { saver, requests } = await open();
  const error = await failure(Reflect.apply(saver.deleteThread, saver, [thread]));
  expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining("threadId") });
  expect(requests()).toBe(0);
});
