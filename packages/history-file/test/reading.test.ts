import fs from "node:fs";
import { appendFile, readFile, stat, truncate } from "node:fs/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { codeOf, conversation, fileOf, ids, openStore, record, records } from "./support/store.ts";

/** How many bytes were asked of the disk while `work` ran. */
async function bytesRead(work: () => Promise<unknown>): Promise<number> {
  const spy = vi.spyOn(fs, "read");
  try {
    await work();
    return spy.mock.calls.reduce((sum, call: readonly unknown[]) => sum + Number(call[3]), 0);
  } finally {
    spy.mockRestore();
  }
}

describe("the cost of reading", () => {
  test("the newest 20 records is the same in a file a thousand times as long", async () => {
    const { store, directory } = await openStore();
    for (let turn = 0; turn < 50; turn += 1) {
      await store.append(conversation(), records(`turn-${turn}`, 2));
    }
    const read = () => store.read(conversation(), { last: 20 });
    const newest = (await read()).records;
    const bytes = await readFile(fileOf(directory));
    const body = bytes.subarray(bytes.indexOf("\n") + 1);
    await appendFile(fileOf(directory), Buffer.concat(Array.from({ length: 1000 }, () => body)));
    expect((await read()).records).toEqual(newest);
    expect((await stat(fileOf(directory))).size).toBeGreaterThan(9_000_000);
    expect(await bytesRead(read)).toBeLessThan(32 * 1024);
  });

  test("an older page by its cursor is that of the page", async () => {
    const { store } = await openStore();
    const large = JSON.stringify("x".repeat(20_000));
    for (let turn = 0; turn < 100; turn += 1) {
      await store.append(conversation(), [record(`turn-${turn}`, large)]);
    }
    const { older } = await store.read(conversation(), { last: 50 });
    const cost = await bytesRead(() => store.read(conversation(), { last: 2, before: older }));
    expect(cost).toBeLessThan(5 * 20_000);
  });

  test("a turn that is longer than a block is that of the turn, and few calls, also where it is the first", async () => {
    const { store } = await openStore();
    const large = JSON.stringify("x".repeat(6_000_000));
    await store.append(conversation(), [record("first", large)]);
    await store.append(conversation(), [record("second", large)]);
    const spy = vi.spyOn(fs, "read");
    onTestFinished(() => spy.mockRestore());
    expect(ids((await store.read(conversation())).records)).toEqual(["first", "second"]);
    // A block of each to learn how long it is, and the rest of each.
    expect(spy.mock.calls.length).toBeLessThan(6);
  });

  test("ids for the first append of a process leaves out what large records hold", async () => {
    const { store, directory } = await openStore();
    const large = JSON.stringify("x".repeat(1_000_000));
    for (let turn = 0; turn < 12; turn += 1) {
      await store.append(conversation(), [record(`large-${turn}`, large), record(`small-${turn}`)]);
    }
    const { store: cold } = await openStore({ directory });
    const cost = await bytesRead(async () => {
      expect((await cold.append(conversation(), [record("large-0", large)])).appended).toBe(0);
    });
    expect(cost).toBeLessThan(1_000_000);
    expect((await cold.append(conversation(), [record("large-0", large), record("new")])).appended).toBe(1);
  });

  test("nothing again for an append when no one else has written", async () => {
    const { store } = await openStore();
    await store.append(conversation(), records("a", 2));
    await store.append(conversation(), records("b", 2));
    expect(await bytesRead(() => store.append(conversation(), records("c", 2)))).toBe(0);
  });
});

describe("a process that has not written yet", () => {
  test("knows the newest ids as far back as the window, and those that were replaced", async () => {
    const { store, directory } = await openStore();
    for (let turn = 0; turn < 250; turn += 1) {
      await store.append(conversation(), records(`turn-${turn}`, 4));
    }
    await store.replace(conversation(), { fromId: "turn-240-0", throughId: "turn-249-3" }, [record("summary")]);
    for (const id of ["turn-1-0", "turn-240-0", "turn-249-3", "summary"]) {
      const { store: cold } = await openStore({ directory });
      expect((await cold.append(conversation(), [record(id)])).appended, id).toBe(0);
      await cold.close();
    }
  });
});

describe("lines of any size", () => {
  test("come back whole, in pages of any size", async () => {
    const { store } = await openStore();
    const sizes = [1, 16_000, 3, 70_000, 65_536, 2, 400_000, 1, 1, 16_384, 131_072, 5];
    const all = sizes.map((size, index) => record(`m-${index}`, JSON.stringify("é".repeat(size))));
    for (const one of all) {
      await store.append(conversation(), [one]);
    }
    expect((await store.read(conversation())).records).toEqual(all);
    for (const last of [1, 2, 5, 11]) {
      let found: unknown[] = [];
      let before: string | undefined;
      do {
        const page = await store.read(conversation(), { last, before });
        found = [...page.records, ...found];
        before = page.older;
      } while (before !== undefined);
      expect(found).toEqual(all);
    }
  });
});

describe("a version", () => {
  test("differs when another turn of the same size stands in the place of one that was taken back", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), records("a", 2));
    const { size } = await stat(fileOf(directory));
    const { version } = await store.append(conversation(), [record("b", '"1"')]);
    await truncate(fileOf(directory), size);
    const again = await store.append(conversation(), [record("b", '"2"')]);
    expect(again.appended).toBe(1);
    expect(again.version).not.toBe(version);
    expect((await store.read(conversation())).version).toBe(again.version);
  });

  test("is the same for every way to read it, and for a process that never wrote", async () => {
    const { store, directory } = await openStore();
    for (const size of [1, 10, 100_000, 3]) {
      const { version } = await store.append(conversation(), [record(`m-${size}`, JSON.stringify("x".repeat(size)))]);
      const { store: other } = await openStore({ directory });
      for (const last of [1, 2, undefined]) {
        expect((await other.read(conversation(), { last })).version).toBe(version);
      }
      expect((await other.append(conversation(), [record(`m-${size}`)])).version).toBe(version);
      expect((await store.append(conversation(), [record(`m-${size}`)], { ifVersion: version })).version).toBe(version);
    }
  });
});

describe("a turn that is taken back while it is read", () => {
  test("is looked at again, and not taken for damage", async () => {
    const { store } = await openStore();
    await store.append(conversation(), records("a", 2));
    // Opens the file, so that the next thing to be read is its end.
    await store.read(conversation());
    const original = fs.read;
    const spy = vi.spyOn(fs, "read").mockImplementationOnce(((...args: unknown[]) => {
      const bytes = args[1];
      const done = args.at(-1);
      Reflect.apply(original, fs, [
        ...args.slice(0, -1),
        (error: unknown, count: number) => {
          if (Buffer.isBuffer(bytes)) {
            bytes.fill("#", count - 60, count - 50);
          }
          Reflect.apply(done as () => void, undefined, [error, count]);
        },
      ]);
    }) as never);
    expect((await store.read(conversation(), { onCorrupt: "skip" })).records).toEqual(records("a", 2));
    expect(spy.mock.calls.length).toBeGreaterThan(1);
    spy.mockRestore();
  });
});

describe("a cursor", () => {
  test("inside a turn goes on inside the turn", async () => {
    const { store } = await openStore();
    await store.append(conversation(), records("a", 7));
    const page = await store.read(conversation(), { last: 3 });
    expect(ids(page.records)).toEqual(["a-4", "a-5", "a-6"]);
    const older = await store.read(conversation(), { last: 3, before: page.older });
    expect(ids(older.records)).toEqual(["a-1", "a-2", "a-3"]);
    expect(older.version).toBe(page.version);
  });

  test("is a conflict after a replace and after a clear, never other data", async () => {
    const { store } = await openStore();
    await store.append(conversation(), records("a", 10));
    const { older } = await store.read(conversation(), { last: 3 });
    await store.replace(conversation(), { fromId: "a-0", throughId: "a-1" }, [record("s")]);
    expect(await codeOf(store.read(conversation(), { before: older }))).toBe("conflict");
    const { older: newer } = await store.read(conversation(), { last: 3 });
    await store.clear(conversation());
    expect(await codeOf(store.read(conversation(), { before: newer }))).toBe("conflict");
    await store.append(conversation(), records("a", 10));
    expect(await codeOf(store.read(conversation(), { before: newer }))).toBe("conflict");
  });

  test("is a conflict when the same turns stand in the same places again", async () => {
    const { store } = await openStore();
    await store.append(conversation(), records("a", 10));
    const { older } = await store.read(conversation(), { last: 3 });
    await store.clear(conversation());
    await store.append(conversation(), records("a", 10));
    expect((await store.read(conversation(), { last: 3 })).older).not.toBe(older);
    expect(await codeOf(store.read(conversation(), { before: older }))).toBe("conflict");
  });

  test("that points between lines or behind the end is a conflict", async () => {
    const { store } = await openStore();
    await store.append(conversation(), records("a", 4));
    await store.append(conversation(), records("b", 4));
    const { older = "" } = await store.read(conversation(), { last: 4 });
    const [generation, end] = older.split(".");
    const moved = [`${generation}.${Number(end) + 5}.all`, `${generation}.999999.all`, `${generation}.1.all`];
    for (const before of [...moved, `${generation}.${end}.5`, `${generation}.${end}`, `x.${end}.all`]) {
      expect(await codeOf(store.read(conversation(), { before })), before).toBe("conflict");
    }
  });
});
