import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { mkdir, readdir, readFile, readlink, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { FileHistoryStore } from "../src/index.ts";
import { UNKNOWN_HOLDER_MS } from "../src/lock.ts";
import { livenessOf, newIdentity, randomPart } from "../src/writer-identity.ts";
import { codeOf, conversation, fileOf, openStore, record, records, tree } from "./support/store.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

/** Moves the clock that locks go by, without waiting. */
function skipTime(milliseconds: number): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + milliseconds);
}

/** A process of this machine that is certainly gone: far above every process id that is given out. */
async function deadIdentity(random = "00000000000000dd"): Promise<string> {
  const [space] = (await newIdentity()).split(".");
  return `${space}.4194999.1.${random}`;
}

/** Start times of processes are read on Linux; elsewhere a running process id proves nothing. */
const HAS_START_TIMES = process.platform === "linux";

/** A writer in another container. */
const FOREIGN = "00000000000000ff.1.100.00000000000000aa";

async function lockBy(identity: string, directory: string): Promise<string> {
  const lock = `${fileOf(directory)}.lock`;
  await mkdir(dirname(lock), { recursive: true });
  await writeFile(lock, identity);
  return lock;
}

describe("a writer's identity", () => {
  test("of this process is alive, of one that is gone dead, of another machine or container unknown", async () => {
    expect(await livenessOf(await newIdentity())).toBe(HAS_START_TIMES ? "alive" : "unknown");
    expect(await livenessOf(await deadIdentity())).toBe("dead");
    expect(await livenessOf(FOREIGN)).toBe("unknown");
    expect(await livenessOf("")).toBe("unknown");
    expect(await livenessOf("../../etc/passwd")).toBe("unknown");
  });

  test("of a process id that was given away again is dead", async () => {
    const [space, pid, start, random] = (await newIdentity()).split(".");
    const other = `${space}.${pid}.${Number(start) + 1}.${random}`;
    expect(await livenessOf(other)).toBe(HAS_START_TIMES ? "dead" : "unknown");
    expect(await livenessOf(`${space}.${pid}.0.${random}`)).toBe("unknown");
  });

  test("of a process that ended and was not reaped is dead where that can be told", async () => {
    const parent = spawn("sh", ["-c", "sleep 0.3 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
    onTestFinished(() => {
      parent.kill("SIGKILL");
    });
    const [line] = await once(parent.stdout, "data");
    const pid = String(line).trim();
    const [space] = (await newIdentity()).split(".");
    const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
    const start = stat.split(" ")[21] ?? "0";
    await vi.waitFor(
      async () => {
        const liveness = await livenessOf(`${space}.${pid}.${start}.00000000000000cc`);
        expect(liveness).toBe(HAS_START_TIMES ? "dead" : "unknown");
      },
      { timeout: 10_000 },
    );
    // It still has its process id.
    expect(process.kill(Number(pid), 0)).toBe(true);
  });

  test("is the same after a while in which no file could be opened", async () => {
    vi.resetModules();
    let isStarved = true;
    const whileStarved = <T>(read: () => Promise<T>): Promise<T> =>
      isStarved ? Promise.reject(Object.assign(new Error("too many open files"), { code: "EMFILE" })) : read();
    vi.doMock("node:fs/promises", async (original) => ({
      ...(await original<object>()),
      readFile: (path: string, encoding: "latin1") => whileStarved(() => readFile(path, encoding)),
      readlink: (path: string) => whileStarved(() => readlink(path)),
    }));
    onTestFinished(() => {
      vi.doUnmock("node:fs/promises");
      vi.resetModules();
    });
    const other = await import("../src/writer-identity.ts");
    await expect(other.newIdentity()).rejects.toMatchObject({ code: "EMFILE" });
    isStarved = false;
    const place = (identity: string) => identity.split(".").slice(0, 3);
    expect(place(await other.newIdentity())).toEqual(place(await newIdentity()));
  });

  test("differs for each store of a process", async () => {
    expect(randomPart(await newIdentity())).not.toBe(randomPart(await newIdentity()));
    expect(randomPart("no identity")).toBeUndefined();
  });
});

describe("the lock of a holder that is dead", () => {
  test("is removed at once, with the half-built file of its replace, and reported", async () => {
    const { store, directory, events } = await openStore();
    await store.append(conversation(), records("a", 2));
    await lockBy(await deadIdentity(), directory);
    await writeFile(`${fileOf(directory)}.00000000000000dd.tmp`, "half");
    expect((await store.append(conversation(), [record("b")])).appended).toBe(1);
    expect(events).toEqual([expect.objectContaining({ type: "lock_broken", provider: "history-file" })]);
    expect(await tree(directory)).toHaveLength(3);
  });

  test("is removed by one of many stores, and all of them write", async () => {
    const { store, directory, events } = await openStore();
    await store.append(conversation(), records("a", 2));
    const others = await Promise.all(Array.from({ length: 5 }, () => openStore({ directory })));
    await lockBy(await deadIdentity(), directory);
    await Promise.all(others.map(({ store: other }, index) => other.append(conversation(), records(`o${index}`, 2))));
    const broken = [...events, ...others.flatMap((other) => other.events)];
    expect(broken.map(({ type }) => type)).toEqual(["lock_broken"]);
    expect((await store.read(conversation())).records).toHaveLength(12);
  });

  test("is removed although the one who began to remove it died too", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), records("a", 2));
    const lock = await lockBy(await deadIdentity(), directory);
    await writeFile(`${lock}.00000000000000dd`, await deadIdentity("00000000000000ee"));
    expect((await store.append(conversation(), [record("b")])).appended).toBe(1);
    expect(await tree(directory)).toHaveLength(3);
  });

  test("is left alone when it is another's by the time it is removed", async () => {
    const { store, directory, events } = await openStore({ timeoutMs: 400 });
    await store.append(conversation(), records("a", 2));
    const lock = await lockBy(await deadIdentity(), directory);
    const own = await newIdentity();
    const original = fs.link;
    vi.spyOn(fs, "link").mockImplementation(((from: string, to: string, done: () => void) => {
      if (to === `${lock}.00000000000000dd`) {
        fs.writeFileSync(lock, own);
      }
      original(from, to, done);
    }) as never);
    expect(await codeOf(store.append(conversation(), [record("b")]))).toBe("timeout");
    expect(await readFile(lock, "utf8")).toBe(own);
    expect(events).toEqual([]);
  });
});

describe("the lock of a holder in another container", () => {
  test("is waited for, and removed when nothing of it has changed for long enough", async () => {
    const { store, directory, events } = await openStore({ timeoutMs: 800 });
    await store.append(conversation(), records("a", 2));
    const lock = await lockBy(FOREIGN, directory);
    expect(await codeOf(store.append(conversation(), [record("b")]))).toBe("timeout");
    skipTime(UNKNOWN_HOLDER_MS - 4000);
    expect(await codeOf(store.append(conversation(), [record("b")]))).toBe("timeout");
    // A sign of life: the holder's file changes with each lock that it takes or gives up.
    await utimes(lock, new Date(), new Date());
    vi.restoreAllMocks();
    skipTime(2 * UNKNOWN_HOLDER_MS);
    expect(await codeOf(store.append(conversation(), [record("b")]))).toBe("timeout");
    vi.restoreAllMocks();
    skipTime(4 * UNKNOWN_HOLDER_MS);
    expect((await store.append(conversation(), [record("b")])).appended).toBe(1);
    expect(events.map(({ type }) => type)).toEqual(["lock_broken"]);
  });

  test("is treated alike when it names nobody", async () => {
    const { store, directory } = await openStore({ timeoutMs: 800 });
    await store.append(conversation(), records("a", 2));
    await lockBy("", directory);
    expect(await codeOf(store.append(conversation(), [record("b")]))).toBe("timeout");
    skipTime(UNKNOWN_HOLDER_MS + 1000);
    expect((await store.append(conversation(), [record("b")])).appended).toBe(1);
  });
});

describe("a writer that was asleep", () => {
  test("changes nothing any more, because it may have been taken for dead", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), records("a", 2));
    const before = await readFile(fileOf(directory));
    await store.read(conversation());
    const original = fs.statSync;
    vi.spyOn(fs, "statSync").mockImplementationOnce(((...args: unknown[]) => {
      skipTime(UNKNOWN_HOLDER_MS);
      return Reflect.apply(original, fs, args);
    }) as never);
    expect(await codeOf(store.append(conversation(), [record("b")]))).toBe("unavailable");
    expect(await readFile(fileOf(directory))).toEqual(before);
    vi.restoreAllMocks();
    expect((await store.append(conversation(), [record("b")])).appended).toBe(1);
  });
});

describe("the writers' own files", () => {
  test("of dead writers are swept by the next one, others stay", async () => {
    const { store, directory } = await openStore();
    const writers = join(directory, "_writers");
    await mkdir(writers, { recursive: true });
    const [dead, foreign, old] = [await deadIdentity(), FOREIGN, FOREIGN.replace("aa", "bb")];
    for (const name of [dead, foreign, old, "notes.txt"]) {
      await writeFile(join(writers, name), name);
    }
    const longAgo = new Date(Date.now() - 48 * 60 * 60 * 1000);
    await utimes(join(writers, old), longAgo, longAgo);
    await store.append(conversation(), [record("a")]);
    const left = await readdir(writers);
    expect(left).toHaveLength(3);
    expect(left).toEqual(expect.arrayContaining([foreign, "notes.txt"]));
    await store.close();
    expect((await readdir(writers)).sort()).toEqual([foreign, "notes.txt"].sort());
  });

  test("are made again when someone removes them", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), [record("a")]);
    await rm(join(directory, "_writers"), { recursive: true });
    expect((await store.append(conversation(), [record("b")])).appended).toBe(1);
    expect(await readdir(join(directory, "_writers"))).toHaveLength(1);
  });

  test("come back after close with the next store", async () => {
    const { store, directory } = await openStore();
    await store.append(conversation(), [record("a")]);
    await store.close();
    const { store: next } = await openStore({ directory });
    expect((await next.append(conversation(), [record("b")])).appended).toBe(1);
    expect((await next.read(conversation())).records).toHaveLength(2);
  });
});

test("a file system without hard links is unsupported, and says so", async () => {
  const { store } = await openStore();
  vi.spyOn(fs, "link").mockImplementation(((_from: string, _to: string, done: (error: Error) => void) => {
    done(Object.assign(new Error("EPERM"), { code: "EPERM" }));
  }) as never);
  const error = await store.append(conversation(), [record("a")]).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "unsupported", message: expect.stringContaining("hard links") });
});

describe("a deadline", () => {
  test("that passes while the disk writes is an unknown outcome, and the retry stores the turn once", async () => {
    const { store: patient, directory } = await openStore();
    await patient.append(conversation(), records("a", 2));
    const { store } = await openStore({ directory, timeoutMs: 300 });
    let finish: (() => void) | undefined;
    const original = fs.write;
    vi.spyOn(fs, "write").mockImplementation(((...args: unknown[]) => {
      if (finish === undefined && Buffer.isBuffer(args[1]) && args[1].includes('"turn"')) {
        finish = () => Reflect.apply(original, fs, args);
      } else {
        Reflect.apply(original, fs, args);
      }
    }) as never);
    expect(await codeOf(store.append(conversation(), records("b", 2)))).toBe("outcome_unknown");
    finish?.();
    expect((await patient.append(conversation(), records("b", 2))).appended).toBe(0);
    expect((await patient.read(conversation())).records).toEqual([...records("a", 2), ...records("b", 2)]);
  });

  test("that passes before the first change stops the write for good", async () => {
    const { store: patient, directory } = await openStore();
    await patient.append(conversation(), records("a", 2));
    const before = await readFile(fileOf(directory));
    const { store } = await openStore({ directory, timeoutMs: 300 });
    let finish: (() => void) | undefined;
    const original = fs.stat;
    vi.spyOn(fs, "stat").mockImplementation(((...args: unknown[]) => {
      if (finish === undefined && args[0] === fileOf(directory)) {
        finish = () => Reflect.apply(original, fs, args);
      } else {
        Reflect.apply(original, fs, args);
      }
    }) as never);
    expect(await codeOf(store.append(conversation(), records("b", 2)))).toBe("timeout");
    finish?.();
    await store.close();
    expect(await readFile(fileOf(directory))).toEqual(before);
    expect(await tree(directory)).toHaveLength(3);
  });

  test("ends a close that waits for a write which the disk does not answer", async () => {
    const { store: patient, directory } = await openStore();
    await patient.append(conversation(), records("a", 2));
    const store = new FileHistoryStore({ directory, fsync: false, timeoutMs: 100 });
    const spy = vi.spyOn(fs, "link").mockImplementation((() => undefined) as never);
    expect(await codeOf(store.append(conversation(), records("b", 2)))).toBe("timeout");
    expect(await codeOf(store.close())).toBe("timeout");
    spy.mockRestore();
  });

  test("ends a read that the disk does not answer", async () => {
    const { store: patient, directory } = await openStore();
    await patient.append(conversation(), records("a", 2));
    const { store } = await openStore({ directory, timeoutMs: 100 });
    vi.spyOn(fs, "stat").mockImplementation((() => undefined) as never);
    expect(await codeOf(store.read(conversation()))).toBe("timeout");
  });
});

test("stores that nobody closes do not use up the descriptors of the process", async () => {
  const { store, directory } = await openStore();
  const sessions = Array.from({ length: 100 }, (_, index) => `s-${index}`);
  await Promise.all(sessions.map((session) => store.append(conversation(session), [record("a")])));
  for (const session of sessions) {
    await new FileHistoryStore({ directory, fsync: false }).read(conversation(session));
  }
  expect((await readdir("/proc/self/fd").catch(() => [])).length).toBeLessThan(120);
  for (const session of sessions.slice(0, 10)) {
    await new FileHistoryStore({ directory, fsync: false }).append(conversation(session), [record("b")]);
  }
  expect(await readdir(join(directory, "_writers"))).toHaveLength(1);
});

test("more conversations than files that stay open all work", async () => {
  const { store } = await openStore();
  const sessions = Array.from({ length: 150 }, (_, index) => `s-${index}`);
  for (let turn = 0; turn < 2; turn += 1) {
    await Promise.all(sessions.map((session) => store.append(conversation(session), [record(`${session}-${turn}`)])));
  }
  const pages = await Promise.all(sessions.map((session) => store.read(conversation(session))));
  expect(pages.map(({ records: found }) => found.map(({ id }) => id))).toEqual(
    sessions.map((session) => [`${session}-0`, `${session}-1`]),
  );
  const open = (await readdir("/proc/self/fd").catch(() => [])).length;
  expect(open).toBeLessThan(150);
});

test("appends of one process are stored in the order in which they were called", async () => {
  const { store } = await openStore();
  const turns = Array.from({ length: 60 }, (_, index) => [record(`turn-${index}`)]);
  await Promise.all(turns.map((turn) => store.append(conversation(), turn)));
  expect((await store.read(conversation())).records).toEqual(turns.flat());
});

test("a conversation that is cleared gives its space back at once", async () => {
  const { store } = await openStore();
  await store.append(conversation(), [record("a")]);
  await store.read(conversation());
  await store.clear(conversation());
  await vi.waitFor(async () => {
    const descriptors = await readdir("/proc/self/fd").catch(() => []);
    const targets = await Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
    expect(targets.filter((target) => target.includes(".jsonl (deleted)"))).toEqual([]);
  });
});
