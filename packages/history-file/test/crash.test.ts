import fs from "node:fs";
import { appendFile, readFile, truncate, writeFile } from "node:fs/promises";
import { describe, expect, test, vi } from "vitest";
import { codeOf, conversation, fileOf, ids, openStore, record, records, tree } from "./support/store.ts";

const BEFORE = records("before", 3);
const LAST = [record("last-0", '"😀 and \\n"'), record("last-1", '{"a":[1,2,{"b":null}]}')];

describe("a turn that is cut off at any byte", () => {
  test("is absent, what is before it is there, and it can be appended again", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), BEFORE);
    const { version } = await store.read(conversation());
    const whole = (await readFile(fileOf(directory))).length;
    await store.append(conversation(), LAST);
    await store.close();
    const bytes = await readFile(fileOf(directory));
    for (let size = whole; size < bytes.length; size += 1) {
      await writeFile(fileOf(directory), bytes.subarray(0, size));
      const { store: reader, events } = await openStore({ directory });
      expect(await reader.read(conversation())).toEqual({ records: BEFORE, version });
      expect((await reader.read(conversation(), { last: 2 })).records).toEqual(BEFORE.slice(-2));
      expect((await reader.append(conversation(), LAST, { ifVersion: version })).appended).toBe(2);
      expect((await reader.read(conversation())).records).toEqual([...BEFORE, ...LAST]);
      expect(await readFile(fileOf(directory))).toEqual(bytes);
      expect(events.map(({ type }) => type)).toEqual(size === whole ? [] : ["torn_tail_cut"]);
      await reader.close();
    }
  });

  test("leaves no conversation when it was the first, whatever is cut", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), LAST);
    await store.close();
    const bytes = await readFile(fileOf(directory));
    for (let size = 0; size < bytes.length; size += 1) {
      await writeFile(fileOf(directory), bytes.subarray(0, size));
      const { store: reader } = await openStore({ directory });
      expect(await reader.read(conversation())).toEqual({ records: [], version: "" });
      expect(await reader.list({ owner: "owner-1" })).toEqual({ items: [] });
      expect((await reader.append(conversation(), LAST, { ifVersion: "" })).appended).toBe(2);
      expect((await reader.read(conversation())).records).toEqual(LAST);
      await reader.close();
    }
  });

  test("is reported once, with the place of the cut, whether it is read or written over first", async () => {
    const { store, directory, events } = await openStore();
    await store.append(conversation(), BEFORE);
    const end = (await readFile(fileOf(directory))).length;
    await appendFile(fileOf(directory), '{"turn":{"ids":["half');
    await store.read(conversation());
    await store.read(conversation());
    await store.append(conversation(), LAST);
    expect(events).toEqual([
      expect.objectContaining({
        type: "torn_tail_cut",
        provider: "history-file",
        sessionId: "session-1",
        position: `byte ${end}`,
      }),
    ]);
    await appendFile(fileOf(directory), "half");
    await store.append(conversation(), [record("more")]);
    expect(events).toHaveLength(2);
  });

  test("is not reported while a writer holds the conversation: it may just be writing", async () => {
    const { store, directory, events } = await openStore();
    await store.append(conversation(), BEFORE);
    await appendFile(fileOf(directory), "half");
    await writeFile(`${fileOf(directory)}.lock`, "");
    await store.read(conversation());
    expect(events).toEqual([]);
  });

  test("may be longer than every block that is read", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), BEFORE);
    const { version } = await store.read(conversation());
    await appendFile(fileOf(directory), Buffer.alloc(3_000_000, "x"));
    expect(await store.read(conversation(), { last: 1 })).toMatchObject({ records: BEFORE.slice(-1), version });
    await store.append(conversation(), LAST);
    expect((await store.read(conversation())).records).toEqual([...BEFORE, ...LAST]);
  });
});

describe("a disk that refuses", () => {
  test("a write that is cut short leaves nothing of the turn, and the next one works", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), BEFORE);
    const before = await readFile(fileOf(directory));
    const spy = vi.spyOn(fs, "write").mockImplementationOnce(((
      descriptor: number,
      bytes: Buffer,
      ...rest: unknown[]
    ) => {
      const done = rest.at(-1);
      fs.writeSync(descriptor, bytes, 0, 10, null);
      Reflect.apply(done as () => void, undefined, [null, 10]);
    }) as never);
    expect(await codeOf(store.append(conversation(), LAST))).toBe("unavailable");
    spy.mockRestore();
    expect(await readFile(fileOf(directory))).toEqual(before);
    expect((await store.append(conversation(), LAST)).appended).toBe(2);
  });

  test("a first turn that fails leaves no file", async () => {
    const { store, directory } = await openStore({ fsync: true });
    await store.append(conversation("other"), BEFORE);
    for (const call of ["fdatasync", "fsync"] as const) {
      const spy = vi.spyOn(fs, call).mockImplementationOnce(((_descriptor: number, done: (e: Error) => void) => {
        done(Object.assign(new Error("EIO"), { code: "EIO" }));
      }) as never);
      expect(await codeOf(store.append(conversation(), LAST))).toBe("unavailable");
      spy.mockRestore();
      expect(await tree(directory)).toHaveLength(3);
    }
    expect((await store.append(conversation(), LAST, { ifVersion: "" })).appended).toBe(2);
  });

  test("a sync that fails takes the turn back, so that a retry writes it anew", async () => {
    const { store, directory } = await openStore({ fsync: true });
    await store.append(conversation(), BEFORE);
    const before = await readFile(fileOf(directory));
    const spy = vi.spyOn(fs, "fdatasync").mockImplementationOnce(((_descriptor: number, done: (e: Error) => void) => {
      done(Object.assign(new Error("EIO"), { code: "EIO" }));
    }) as never);
    expect(await codeOf(store.append(conversation(), LAST))).toBe("unavailable");
    expect(await readFile(fileOf(directory))).toEqual(before);
    expect((await store.append(conversation(), LAST)).appended).toBe(2);
    spy.mockRestore();
  });

  test("a turn that can be neither synced nor taken back has an unknown outcome", async () => {
    const { store } = await openStore({ fsync: true });
    await store.append(conversation(), BEFORE);
    const fail = (...args: unknown[]) => {
      const done = args.at(-1);
      Reflect.apply(done as () => void, undefined, [Object.assign(new Error("EIO"), { code: "EIO" })]);
    };
    const spies = [
      vi.spyOn(fs, "fdatasync").mockImplementationOnce(fail as never),
      vi.spyOn(fs, "ftruncate").mockImplementationOnce(fail as never),
    ];
    expect(await codeOf(store.append(conversation(), LAST))).toBe("outcome_unknown");
    for (const spy of spies) {
      spy.mockRestore();
    }
    expect((await store.append(conversation(), LAST)).appended).toBe(0);
    expect((await store.read(conversation())).records).toEqual([...BEFORE, ...LAST]);
  });

  test("a replace that fails leaves the old file and no other", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), BEFORE);
    const before = await readFile(fileOf(directory));
    const spy = vi.spyOn(fs, "rename").mockImplementationOnce(((
      _from: string,
      _to: string,
      done: (e: Error) => void,
    ) => {
      done(Object.assign(new Error("ENOSPC"), { code: "ENOSPC" }));
    }) as never);
    const range = { fromId: "before-0", throughId: "before-1" };
    expect(await codeOf(store.replace(conversation(), range, [record("s")]))).toBe("unavailable");
    spy.mockRestore();
    expect(await readFile(fileOf(directory))).toEqual(before);
    expect(await tree(directory)).toHaveLength(3);
    await store.replace(conversation(), range, [record("s")]);
    expect(ids((await store.read(conversation())).records)).toEqual(["s", "before-2"]);
  });
});

describe("syncing", () => {
  test("is done before a turn is acknowledged, for its directory too when the file is new", async () => {
    const { store } = await openStore({ fsync: true });
    const spies = [vi.spyOn(fs, "fdatasync"), vi.spyOn(fs, "fsync")] as const;
    await store.append(conversation(), BEFORE);
    expect(spies[0]).toHaveBeenCalledTimes(1);
    expect(spies[1].mock.calls.length).toBeGreaterThanOrEqual(1);
    const directories = spies[1].mock.calls.length;
    await store.append(conversation(), LAST);
    expect(spies[0]).toHaveBeenCalledTimes(2);
    expect(spies[1]).toHaveBeenCalledTimes(directories);
    for (const spy of spies) {
      spy.mockRestore();
    }
  });

  test("is done for a repeated append that another process may have left unsynced", async () => {
    const { store, directory } = await openStore({ fsync: false });
    await store.append(conversation(), BEFORE);
    const { store: other } = await openStore({ directory, fsync: true });
    const spy = vi.spyOn(fs, "fdatasync");
    expect((await other.append(conversation(), BEFORE)).appended).toBe(0);
    expect((await other.append(conversation(), BEFORE)).appended).toBe(0);
    expect(spy).toHaveBeenCalledTimes(1);
    spy.mockRestore();
  });

  test("of the new file of a replace is never left out, because it holds the whole conversation", async () => {
    const { store } = await openStore({ fsync: false });
    await store.append(conversation(), BEFORE);
    const spy = vi.spyOn(fs, "fdatasync");
    await store.replace(conversation(), { fromId: "before-0", throughId: "before-1" }, [record("s")]);
    expect(spy).toHaveBeenCalledTimes(1);
    spy.mockRestore();
  });

  test("can be left out otherwise", async () => {
    const { store } = await openStore({ fsync: false });
    const spies = [vi.spyOn(fs, "fdatasync"), vi.spyOn(fs, "fsync")];
    await store.append(conversation(), BEFORE);
    await store.append(conversation(), LAST);
    await store.clear(conversation());
    for (const spy of spies) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });
});

describe("a file that becomes shorter while it is known", () => {
  test("is read afresh before the next append", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), BEFORE);
    const { length } = await readFile(fileOf(directory));
    await store.append(conversation(), LAST);
    await truncate(fileOf(directory), length);
    expect((await store.append(conversation(), LAST)).appended).toBe(2);
    expect((await store.read(conversation())).records).toEqual([...BEFORE, ...LAST]);
  });
});
