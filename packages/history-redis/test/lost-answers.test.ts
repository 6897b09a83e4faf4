import { startFaultProxy } from "@agentfw/test-servers";
import { Redis } from "ioredis";
import { describe, expect, onTestFinished, test } from "vitest";
import { RedisHistoryStore } from "../src/index.ts";
import { type FaultyStore, openFaulty, withLostAnswer } from "./support/faults.ts";
import { conversation, openStore, recordsOf, rejection } from "./support/redis.ts";
import { type Connected, nodePort } from "./support/stores.ts";

const KEY = conversation("s");

/** Clients that were passed in send by themselves again what was under way. */
const EVERYWHERE: readonly Connected[] = ["url", "ioredis 6", "ioredis 5", "cluster"];

async function openWithRecords(connected: Connected, options: { maxRecords?: number } = {}): Promise<FaultyStore> {
  const faulty = await openFaulty(connected, options);
  await faulty.store.append(KEY, recordsOf("1", "2"));
  return faulty;
}

async function idsOf({ direct }: FaultyStore): Promise<string[]> {
  return (await direct.read(KEY)).records.map(({ id }) => id);
}

const has = (faulty: FaultyStore, id: string) => async () => (await idsOf(faulty)).includes(id);

describe.each(EVERYWHERE)("an append whose answer is lost (%s)", (connected) => {
  test("is stored once and acknowledged with its own version", async () => {
    const faulty = await openWithRecords(connected);
    const call = () => faulty.store.append(KEY, recordsOf("3", "4"));
    const result = await withLostAnswer(faulty, call, has(faulty, "4"));
    expect(result).toEqual({ version: (await faulty.direct.read(KEY)).version, appended: 2 });
    expect(await idsOf(faulty)).toEqual(["1", "2", "3", "4"]);
  });

  test("under a version is no conflict with itself, also when others wrote behind it", async () => {
    const faulty = await openWithRecords(connected);
    const { version } = await faulty.direct.read(KEY);
    const call = () => faulty.store.append(KEY, recordsOf("3"), { ifVersion: version });
    const append = () => faulty.direct.append(KEY, recordsOf("theirs"));
    const { version: ours, appended } = await withLostAnswer(faulty, call, has(faulty, "3"), append);
    expect(appended).toBe(1);
    expect(await idsOf(faulty)).toEqual(["1", "2", "3", "theirs"]);
    // It is the version that the lost answer had: the caller has not seen what came behind it.
    const next = faulty.store.append(KEY, recordsOf("4"), { ifVersion: ours });
    expect(await rejection(next)).toMatchObject({ code: "conflict" });
  });

  test("tells how many records it added itself, however many others came behind it", async () => {
    const faulty = await openWithRecords(connected);
    const call = (...ids: readonly string[]) => faulty.store.append(KEY, recordsOf(...ids));
    const theirs = Array.from({ length: 400 }, (_, index) => `theirs-${index}`);
    const append = (at: number) => () =>
      faulty.direct.append(KEY, recordsOf(...theirs.slice(at * 100, at * 100 + 100)));
    // Known before: none, the first, the last, one in the middle.
    expect(await withLostAnswer(faulty, () => call("3", "4"), has(faulty, "4"), append(0))).toMatchObject({
      appended: 2,
    });
    expect(await withLostAnswer(faulty, () => call("4", "5"), has(faulty, "5"), append(1))).toMatchObject({
      appended: 1,
    });
    expect(await withLostAnswer(faulty, () => call("6", "7", "1"), has(faulty, "7"), append(2))).toMatchObject({
      appended: 2,
    });
    expect(await withLostAnswer(faulty, () => call("8", "7", "9"), has(faulty, "9"), append(3))).toMatchObject({
      appended: 2,
    });
    expect((await idsOf(faulty)).filter((id) => !id.startsWith("theirs"))).toEqual([..."123456789"]);
    expect(await idsOf(faulty)).toHaveLength(409);
    // A repetition of the caller's own adds nothing.
    expect(await call("8", "7", "9")).toMatchObject({ appended: 0, version: (await faulty.direct.read(KEY)).version });
  });

  test("of more records than may stay keeps the newest of them, whatever others did meanwhile", async () => {
    const faulty = await openWithRecords(connected, { maxRecords: 4 });
    const many = Array.from({ length: 3_000 }, (_, index) => `many-${index}`);
    const call = () => faulty.store.append(KEY, recordsOf(...many));
    expect(await withLostAnswer(faulty, call, has(faulty, "many-2999"))).toMatchObject({ appended: 3_000 });
    expect(await idsOf(faulty)).toEqual(many.slice(-4));
    await faulty.store.clear(KEY);
    const append = () => faulty.direct.append(KEY, recordsOf("theirs"));
    expect(await withLostAnswer(faulty, call, has(faulty, "many-2999"), append)).toMatchObject({ appended: 3_000 });
    expect(await idsOf(faulty)).toEqual([...many.slice(-4), "theirs"]);
  });
});

describe.each(EVERYWHERE)("a replace whose answer is lost (%s)", (connected) => {
  test("is carried out once and succeeds", async () => {
    const faulty = await openWithRecords(connected);
    const call = () => faulty.store.replace(KEY, { fromId: "1", throughId: "2" }, recordsOf("summary"));
    const { version } = await withLostAnswer(faulty, call, has(faulty, "summary"));
    expect([await idsOf(faulty), (await faulty.direct.read(KEY)).version]).toEqual([["summary"], version]);
  });

  test("that keeps its ends and was under a version is no conflict with itself", async () => {
    const faulty = await openWithRecords(connected);
    const { version } = await faulty.direct.read(KEY);
    const call = () =>
      faulty.store.replace(KEY, { fromId: "1", throughId: "2" }, recordsOf("1", "new", "2"), { ifVersion: version });
    await withLostAnswer(faulty, call, has(faulty, "new"));
    expect(await idsOf(faulty)).toEqual(["1", "new", "2"]);
  });

  test("keeps what others appended meanwhile", async () => {
    const faulty = await openWithRecords(connected);
    const call = () => faulty.store.replace(KEY, { fromId: "2", throughId: "2" }, []);
    const isDone = async () => !(await idsOf(faulty)).includes("2");
    const append = () => faulty.direct.append(KEY, recordsOf("theirs"));
    const { version } = await withLostAnswer(faulty, call, isDone, append);
    expect(await idsOf(faulty)).toEqual(["1", "theirs"]);
    const next = faulty.store.append(KEY, recordsOf("3"), { ifVersion: version });
    expect(await rejection(next)).toMatchObject({ code: "conflict" });
  });

  test("is known again behind many records of others", async () => {
    const faulty = await openWithRecords(connected);
    const call = () => faulty.store.replace(KEY, { fromId: "1", throughId: "2" }, recordsOf("summary"));
    const theirs = recordsOf(...Array.from({ length: 300 }, (_, index) => `theirs-${index}`));
    await withLostAnswer(faulty, call, has(faulty, "summary"), () => faulty.direct.append(KEY, theirs));
    expect((await idsOf(faulty)).slice(0, 2)).toEqual(["summary", "theirs-0"]);
  });
});

describe("a clear whose answer is lost", () => {
  test.each(EVERYWHERE)("is done, and of unknown outcome where the store cannot ask again (%s)", async (connected) => {
    const faulty = await openWithRecords(connected);
    const isGone = async () => (await idsOf(faulty)).length === 0;
    const call = withLostAnswer(faulty, () => faulty.store.clear(KEY), isGone);
    if (connected === "url") {
      expect(await rejection(call)).toMatchObject({ code: "outcome_unknown", retryable: true });
    } else {
      await call;
    }
    expect(await idsOf(faulty)).toEqual([]);
  });

  test("takes away nothing that somebody appended behind it", async () => {
    const faulty = await openWithRecords("url");
    const isGone = async () => (await idsOf(faulty)).length === 0;
    const append = () => faulty.direct.append(KEY, recordsOf("theirs"));
    const call = withLostAnswer(faulty, () => faulty.store.clear(KEY), isGone, append);
    expect(await rejection(call)).toMatchObject({ code: "outcome_unknown" });
    expect(await idsOf(faulty)).toEqual(["theirs"]);
  });
});

describe("a replace by the same ids whose answer is lost", () => {
  test("does not undo what somebody put in their place since", async () => {
    const faulty = await openWithRecords("url");
    const range = { fromId: "1", throughId: "1" };
    const textOf = async () => (await faulty.direct.read(KEY)).records[0]?.data;
    const replace = (store: RedisHistoryStore, by: string) => store.replace(KEY, range, [{ id: "1", data: `"${by}"` }]);
    const isDone = async () => (await textOf()) === '"ours"';
    const call = withLostAnswer(
      faulty,
      () => replace(faulty.store, "ours"),
      isDone,
      () => replace(faulty.direct, "theirs"),
    );
    expect(await rejection(call)).toMatchObject({ code: "outcome_unknown", retryable: true });
    expect(await textOf()).toBe('"theirs"');
  });
});

describe("a write whose answer is lost and that is refused when it is asked again", () => {
  test.each(["url", "client"])("is of unknown outcome, because it was carried out (%s)", async (way) => {
    const { client, store: direct, keyPrefix } = openStore();
    const rules = (...more: readonly string[]) => client.call("acl", ["setuser", keyPrefix, ...more]);
    await rules("on", ">secret", "~*", "+@all");
    const proxy = await startFaultProxy({ port: nodePort() });
    const url = `redis://${keyPrefix}:secret@127.0.0.1:${proxy.port}`;
    // A client that was passed in sends again by itself, and shows only what the server said then.
    const passedIn = new Redis(url, { lazyConnect: true }).on("error", () => {});
    const store = new RedisHistoryStore(way === "url" ? { url } : { client: passedIn }, { keyPrefix });
    onTestFinished(async () => {
      await store.close();
      passedIn.disconnect();
      await proxy.close();
      await client.call("acl", ["deluser", keyPrefix]);
    });
    await store.append(KEY, recordsOf("1"));
    const faulty = { store, direct, proxies: [proxy] };
    const call = () => store.append(KEY, recordsOf("2"));
    const refused = withLostAnswer(faulty, call, has(faulty, "2"), () => rules("-evalsha"));
    expect(await rejection(refused)).toMatchObject({ code: "outcome_unknown", retryable: true });
    await rules("+evalsha");
    expect(await store.append(KEY, recordsOf("2"))).toMatchObject({ appended: 0 });
  });
});

describe("a caller's own retry after an unknown outcome", () => {
  test("stores the turn once, with the same ids", async () => {
    const faulty = await openFaulty("url", { timeoutMs: 1_000 });
    await faulty.store.append(KEY, recordsOf("1", "2"));
    faulty.proxies[0]?.blackhole();
    const error = await rejection(faulty.store.append(KEY, recordsOf("3", "4")));
    expect(error).toMatchObject({ code: "outcome_unknown", retryable: true });
    await faulty.proxies[0]?.pass();
    await faulty.store.append(KEY, recordsOf("3", "4")).catch(() => faulty.store.append(KEY, recordsOf("3", "4")));
    expect(await idsOf(faulty)).toEqual(["1", "2", "3", "4"]);
  });

  test("with more records adds those only, under a new version, wherever they stand", async () => {
    const faulty = await openWithRecords("url");
    const seen = new Set([(await faulty.store.read(KEY)).version]);
    for (const ids of [
      ["3", "1"],
      ["2", "4", "3"],
      ["1", "5"],
    ]) {
      const { version, appended } = await faulty.store.append(KEY, recordsOf(...ids));
      expect([appended, (await faulty.direct.read(KEY)).version]).toEqual([1, version]);
      seen.add(version);
    }
    expect(seen.size).toBe(4);
    expect(await idsOf(faulty)).toEqual(["1", "2", "3", "4", "5"]);
  });

  test("of more records than may stay adds nothing, also when others came behind them", async () => {
    const { store, direct } = await openFaulty("url", { maxRecords: 4 });
    const many = recordsOf(...Array.from({ length: 9_000 }, (_, index) => `many-${index}`));
    expect(await store.append(KEY, many)).toMatchObject({ appended: 9_000 });
    expect(await store.append(KEY, many)).toMatchObject({ appended: 0 });
    expect((await direct.read(KEY)).records).toEqual(many.slice(-4));
    await store.append(KEY, recordsOf("1", "2"));
    expect(await store.append(KEY, many)).toMatchObject({ appended: 0 });
    expect((await direct.read(KEY)).records).toEqual([...many.slice(-2), ...recordsOf("1", "2")]);
  });

  test("does not bring back what maxRecords removed meanwhile", async () => {
    const faulty = await openWithRecords("url", { maxRecords: 3 });
    await faulty.direct.append(KEY, recordsOf("3"));
    const trimming = faulty.store;
    await trimming.append(KEY, recordsOf("4", "5", "6"));
    expect(await trimming.append(KEY, recordsOf("1", "2"))).toMatchObject({ appended: 0 });
    expect(await idsOf(faulty)).toEqual(["4", "5", "6"]);
  });
});

describe("reads whose answer is lost or cut", () => {
  test("are made again", async () => {
    const faulty = await openWithRecords("url");
    for (const call of [
      () => faulty.store.read(KEY),
      () => faulty.store.read(KEY, { last: 2, withFirst: true }),
      () => faulty.store.list({ owner: "alice" }).then(({ items }) => faulty.store.read(items[0]?.key ?? KEY)),
    ]) {
      for (const bytes of [0, 5]) {
        faulty.proxies[0]?.cutNextReply(bytes);
        expect((await call()).records).toEqual(recordsOf("1", "2"));
      }
    }
  });
});
