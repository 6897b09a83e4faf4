import { readdir } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { HistoryRecord } from "@agentfw/core";
import { describe, expect, test } from "vitest";
import { prepareChildren } from "./support/processes.ts";
import { codeOf, conversation, fileOf, ids, openStore, record, records, tree } from "./support/store.ts";

/** Fails unless the records are whole turns of three, each once; gives the names of the turns. */
function wholeTurns(stored: readonly HistoryRecord[]): string[] {
  const turns = stored.filter((_, index) => index % 3 === 0).map(({ id }) => id.replace(/-0$/, ""));
  expect(ids(stored)).toEqual(turns.flatMap((turn) => [`${turn}-0`, `${turn}-1`, `${turn}-2`]));
  expect(new Set(turns).size).toBe(turns.length);
  for (const { id, data } of stored) {
    expect(JSON.parse(data).id ?? id).toBe(id);
  }
  return turns;
}

describe("writers in several processes", () => {
  test.each([false, true])(
    "killed at any moment lose nothing that was acknowledged (fsync: %s)",
    { timeout: 120_000 },
    async (fsync) => {
      const { store, directory, events } = await openStore();
      const start = await prepareChildren();
      const acknowledged: string[] = [];
      for (let round = 0; round < 3; round += 1) {
        const writers = Array.from({ length: 6 }, (_, index) =>
          start({ job: "append", directory, name: `w${round}-${index}`, fsync }),
        );
        await Promise.all(writers.map((writer) => writer.heard("w")));
        for (const writer of writers) {
          await pause(Math.random() * 60);
          writer.kill();
        }
        await Promise.all(writers.map(({ ended }) => ended));
        acknowledged.push(...writers.flatMap(({ told }) => told));
        expect((await store.append(conversation(), records(`between-${round}`, 3))).appended).toBe(3);
      }
      const page = await store.read(conversation());
      const turns = new Set(wholeTurns(page.records));
      expect(acknowledged.length).toBeGreaterThan(18);
      for (const line of acknowledged) {
        const [turn = "", appended] = line.split(" ");
        expect(appended, line).toBe("3");
        expect(turns.has(turn), `${turn} was acknowledged`).toBe(true);
      }
      for (const { type } of events) {
        expect(["lock_broken", "torn_tail_cut"]).toContain(type);
      }
      const left = await readdir(dirname(fileOf(directory)));
      expect(left.filter((name) => name.endsWith(".lock"))).toEqual([]);
    },
  );

  test("that all finish store every turn once, and leave nothing behind", { timeout: 60_000 }, async () => {
    const { store, directory, events } = await openStore();
    const start = await prepareChildren();
    const writers = Array.from({ length: 6 }, (_, index) =>
      start({ job: "append", directory, name: `w${index}`, times: 25 }),
    );
    expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual([0, 0, 0, 0, 0, 0]);
    const turns = wholeTurns((await store.read(conversation())).records);
    expect(turns).toHaveLength(150);
    for (let index = 0; index < 6; index += 1) {
      const own = turns.filter((turn) => turn.startsWith(`w${index}-`));
      expect(own).toEqual(Array.from({ length: 25 }, (_, turn) => `w${index}-${turn}`));
    }
    expect(await tree(directory)).toEqual(["owner-1", "owner-1/main", "owner-1/main/session-1.jsonl"]);
    expect(await readdir(`${directory}/_writers`)).toEqual([]);
    expect(events).toEqual([]);
  });

  test("count without a lost update when each depends on the version it has read", { timeout: 60_000 }, async () => {
    const { store, directory } = await openStore();
    const start = await prepareChildren();
    const counters = Array.from({ length: 5 }, (_, index) =>
      start({ job: "count", directory, name: `c${index}`, times: 20 }),
    );
    expect(await Promise.all(counters.map(({ ended }) => ended))).toEqual([0, 0, 0, 0, 0]);
    const { records: stored } = await store.read(conversation());
    expect(stored.map(({ data }) => Number(data))).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  test("keep every turn while another process compacts, and readers see whole pages", { timeout: 60_000 }, async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), records("first", 3));
    const start = await prepareChildren();
    const writers = Array.from({ length: 3 }, (_, index) =>
      start({ job: "append", directory, name: `w${index}`, times: 30 }),
    );
    const compactor = start({ job: "compact", directory, name: "s", times: 20 });
    const all = Promise.all([...writers, compactor].map(({ ended }) => ended));
    let isRunning = true;
    void all.then(() => {
      isRunning = false;
    });
    let reads = 0;
    while (isRunning) {
      const { records: seen } = await store.read(conversation());
      expect(seen.length).toBeGreaterThan(0);
      expect(new Set(ids(seen)).size).toBe(seen.length);
      reads += 1;
    }
    expect(await all).toEqual([0, 0, 0, 0]);
    expect(reads).toBeGreaterThan(3);
    const { records: stored } = await store.read(conversation());
    const total = stored.reduce((sum, { data }) => sum + Number(JSON.parse(data).summarized ?? 1), 0);
    expect(total).toBe(3 + 3 * 30 * 3);
  });
});

describe("a writer that dies in the middle", () => {
  test("of an append leaves its lock and half a line; the next append removes both", async () => {
    const { store, directory, events } = await openStore();
    await store.append(conversation(), records("a", 2));
    const start = await prepareChildren();
    const child = start({ job: "hold-lock", directory, name: "half" });
    await child.heard("holding");
    expect((await store.read(conversation())).records).toEqual(records("a", 2));
    child.kill();
    await child.ended;
    expect((await store.append(conversation(), records("b", 2))).appended).toBe(2);
    expect((await store.read(conversation())).records).toEqual([...records("a", 2), ...records("b", 2)]);
    expect(events.map(({ type }) => type)).toEqual(["lock_broken", "torn_tail_cut"]);
    expect(await tree(directory)).toHaveLength(3);
  });

  test("of a replace leaves the old file; its new one goes with its lock", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), records("a", 2));
    const start = await prepareChildren();
    const child = start({ job: "hold-replace", directory, name: "new" });
    await child.heard("holding");
    expect((await tree(directory)).some((path) => path.endsWith(".tmp"))).toBe(true);
    child.kill();
    await child.ended;
    await store.append(conversation(), [record("b")]);
    expect((await store.read(conversation())).records).toEqual([...records("a", 2), record("b")]);
    expect(await tree(directory)).toHaveLength(3);
  });

  test("is relieved while many wait, and each of their turns is stored once", { timeout: 60_000 }, async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), records("a", 2));
    const start = await prepareChildren();
    for (let round = 0; round < 2; round += 1) {
      const holder = start({ job: "hold-lock", directory, name: `half-${round}` });
      await holder.heard("holding");
      const waiting = Array.from({ length: 5 }, (_, index) =>
        start({ job: "append", directory, name: `w${round}-${index}`, times: 4 }),
      );
      await pause(300);
      holder.kill();
      expect(await Promise.all(waiting.map(({ ended }) => ended))).toEqual([0, 0, 0, 0, 0]);
    }
    const { records: stored } = await store.read(conversation());
    expect(wholeTurns(stored.slice(2))).toHaveLength(2 * 5 * 4);
  });
});

describe("a writer that lives", () => {
  test("is never relieved, however long it takes; who waits ends with timeout and has written nothing", async () => {
    const { store: patient, directory, events: reported } = await openStore();
    await patient.append(conversation(), records("a", 2));
    const { store, events } = await openStore({ directory, timeoutMs: 600 });
    const start = await prepareChildren();
    const child = start({ job: "hold-lock", directory, name: "half" });
    await child.heard("holding");
    child.kill("SIGSTOP");
    const calls = [
      () => store.append(conversation(), records("b", 2)),
      () => store.replace(conversation(), { fromId: "a-0", throughId: "a-0" }, []),
      () => store.clear(conversation()),
    ];
    for (const call of calls) {
      expect(await codeOf(call())).toBe("timeout");
    }
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 50);
    const aborted = await store
      .append(conversation(), records("b", 2), { signal: controller.signal })
      .catch((error: unknown) => error);
    expect(aborted).toMatchObject({ name: "AbortError" });
    expect((await patient.append(conversation("another"), records("b", 2))).appended).toBe(2);
    expect((await patient.read(conversation())).records).toEqual(records("a", 2));
    expect([...events, ...reported].filter(({ type }) => type === "lock_broken")).toEqual([]);
    child.kill();
    await child.ended;
    expect((await patient.append(conversation(), records("b", 2))).appended).toBe(2);
  });
});
