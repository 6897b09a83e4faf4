import fs from "node:fs";
import { join } from "node:path";
import { AgentFrameworkError, isAgentFrameworkError } from "@agentfw/core";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { FileSystemFileStore } from "../src/index.ts";
import { codeOf, openStore, tree } from "./support/store.ts";

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: /home/someone/secret`), { code });
}

/** Makes one kind of system call fail from now on, with what the disk would say. */
function failing(
  call: "write" | "fdatasync" | "fsync" | "rename" | "unlink" | "mkdir" | "open" | "read",
  code: string,
): void {
  const spy = vi.spyOn(fs, call).mockImplementation(((...args: unknown[]) => {
    const done = args.at(-1);
    Reflect.apply(done as () => void, undefined, [systemError(code)]);
  }) as never);
  onTestFinished(() => spy.mockRestore());
}

describe("an error of the system", () => {
  /** What a write rejects with whose content cannot be written. */
  async function errorOf(cause: unknown): Promise<unknown> {
    const { store } = await openStore();
    await store.write("a.md", "before");
    const spy = vi.spyOn(fs, "write").mockImplementation(((...args: unknown[]) => {
      Reflect.apply(args.at(-1) as () => void, undefined, [cause]);
    }) as never);
    const error: unknown = await store.write("a.md", "after").catch((reason: unknown) => reason);
    spy.mockRestore();
    return error;
  }

  test.each([
    ["EACCES", "unauthorized", "permission denied"],
    ["ELOOP", "unauthorized", "a link or a device stands where a file should be"],
    ["ENXIO", "unauthorized", "a link or a device stands where a file should be"],
    ["EFBIG", "too_large", "the file would grow above the limit of the system"],
    ["ENAMETOOLONG", "configuration", "directory or path: too long for the file system"],
    ["ENOSPC", "unavailable", "no space left on the device"],
    ["EWHATEVER", "unavailable", "the file system answered EWHATEVER"],
  ])("%s is %s, and its own words are in the cause only", async (code, expected, reason) => {
    const cause = systemError(code);
    const error = await errorOf(cause);
    expect(isAgentFrameworkError(error) && error.code).toBe(expected);
    expect(error).toMatchObject({ message: `[memory-file] write: ${reason}`, cause });
    expect(String(error)).not.toContain("/home");
  });

  test("of the framework, of an abort or of the program passes through", async () => {
    for (const error of [
      new AgentFrameworkError("conflict", "x"),
      new DOMException("x", "AbortError"),
      new TypeError("x"),
      Object.assign(new Error("x"), { code: "ERR_INVALID_ARG_TYPE" }),
    ]) {
      expect(await errorOf(error)).toBe(error);
    }
  });
});

describe("a disk that refuses", () => {
  test.each([
    ["write", "ENOSPC"],
    ["write", "EIO"],
    ["fdatasync", "EIO"],
    ["rename", "EACCES"],
  ] as const)("%s with %s leaves the old file, and nothing half done", async (call, code) => {
    const { store, root } = await openStore({ fsync: true });
    await store.write("dir/a.md", "before");
    const before = await tree(root);
    failing(call, code);
    const expected = call === "rename" ? ["outcome_unknown", "unauthorized"] : ["unavailable"];
    expect(expected).toContain(await codeOf(store.write("dir/a.md", "after")));
    vi.restoreAllMocks();
    expect((await store.read("dir/a.md"))?.text).toBe("before");
    expect(await tree(root)).toEqual(before);
    await store.close();
    expect(fs.readdirSync(`${root}/_store`)).toEqual([".gitignore"]);
    const { store: next } = await openStore({ root });
    await next.write("dir/a.md", "after");
    expect((await next.read("dir/a.md"))?.text).toBe("after");
  });

  test("a read is an error and never an absent file", async () => {
    const { store } = await openStore();
    await store.write("a.md", "text");
    for (const code of ["EIO", "EMFILE", "EACCES"]) {
      failing("open", code);
      for (const call of [
        () => store.read("a.md"),
        () => store.read("unknown.md"),
        () => store.list(""),
        () => store.search("text"),
      ]) {
        expect(await codeOf(call())).toBe(code === "EACCES" ? "unauthorized" : "unavailable");
      }
      vi.restoreAllMocks();
    }
    failing("read", "EIO");
    expect(await codeOf(store.read("a.md"))).toBe("unavailable");
    expect(await codeOf(store.search("text"))).toBe("unavailable");
  });

  test.each(["fsync", "unlink"] as const)("%s after the change makes the outcome unknown, not undone", async (call) => {
    const { store } = await openStore({ fsync: true });
    await store.write("dir/a.md", "before");
    await store.write("dir/b.md", "before");
    if (call === "fsync") {
      failing(call, "EIO");
      expect(await codeOf(store.delete("dir/b.md"))).toBe("outcome_unknown");
      expect(await store.exists("dir/b.md")).toBe(false);
    } else {
      failing(call, "EROFS");
    }
    const error: unknown = await store.write("dir/a.md", "after").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "outcome_unknown", cause: { code: call === "fsync" ? "EIO" : "EROFS" } });
    expect((await store.read("dir/a.md"))?.text).toBe("after");
  });

  test("a delete says so, and the file is still there", async () => {
    const { store } = await openStore();
    await store.write("a.md", "text");
    const { unlink } = fs;
    const spy = vi.spyOn(fs, "unlink").mockImplementation(((path: string, done: (error: Error | null) => void) => {
      return path.endsWith("a.md") ? done(systemError("EPERM")) : unlink(path, done);
    }) as never);
    expect(await codeOf(store.delete("a.md"))).toBe("unauthorized");
    spy.mockRestore();
    expect(await store.exists("a.md")).toBe(true);
  });
});

describe("a call that takes too long", () => {
  /** Holds every call of one kind until the function that it gives is called. */
  function held(call: "rename" | "fdatasync" | "open"): () => void {
    const original = fs[call];
    const waiting: (() => void)[] = [];
    const spy = vi.spyOn(fs, call).mockImplementation(((...args: unknown[]) => {
      waiting.push(() => Reflect.apply(original, fs, args));
    }) as never);
    return () => {
      spy.mockRestore();
      for (const go of waiting.splice(0)) {
        go();
      }
    };
  }

  test("ends as timeout before the change, and then changes nothing", async () => {
    const { store, root } = await openStore({ fsync: true, timeoutMs: 200 });
    await store.write("a.md", "before");
    const release = held("fdatasync");
    expect(await codeOf(store.write("a.md", "after"))).toBe("timeout");
    release();
    await store.close();
    const { store: next } = await openStore({ root });
    expect((await next.read("a.md"))?.text).toBe("before");
  });

  test("ends as outcome_unknown during the change", async () => {
    const { store, root } = await openStore({ timeoutMs: 200 });
    await store.write("a.md", "before");
    const release = held("rename");
    expect(await codeOf(store.write("a.md", "after"))).toBe("outcome_unknown");
    release();
    await store.close();
    const { store: next } = await openStore({ root });
    expect((await next.read("a.md"))?.text).toBe("after");
  });

  test("and is given up ends as the abort before the change, and as outcome_unknown during it", async () => {
    for (const [call, expected] of [
      ["fdatasync", "AbortError"],
      ["rename", "outcome_unknown"],
    ] as const) {
      const { store } = await openStore({ fsync: true });
      await store.write("a.md", "before");
      const release = held(call);
      const controller = new AbortController();
      const write = store.write("a.md", "after", { signal: controller.signal });
      await vi.waitFor(() => expect(fs[call]).toHaveBeenCalled());
      controller.abort();
      const error: unknown = await write.catch((reason: unknown) => reason);
      expect(error instanceof Error && (expected === "AbortError" ? error.name : Reflect.get(error, "code"))).toBe(
        expected,
      );
      release();
      await store.close();
    }
  });

  test("a read ends as timeout", async () => {
    const { store } = await openStore({ timeoutMs: 200 });
    await store.write("a.md", "text");
    const release = held("open");
    expect(await codeOf(store.read("a.md"))).toBe("timeout");
    expect(await codeOf(store.search("text", { timeoutMs: 100 }))).toBe("timeout");
    release();
    expect((await store.read("a.md"))?.text).toBe("text");
  });
});

test("with fsync, the names of a root and of the parents that are made with it are safe as well", async () => {
  const { root } = await openStore();
  const synced: string[] = [];
  const fsync = fs.fsync;
  const spy = vi.spyOn(fs, "fsync").mockImplementation(((descriptor: number, done: fs.NoParamCallback) => {
    synced.push(fs.readlinkSync(`/proc/self/fd/${descriptor}`));
    fsync(descriptor, done);
  }) as never);
  onTestFinished(() => spy.mockRestore());
  const store = new FileSystemFileStore(join(root, "made", "with", "it"), { fsync: true });
  await store.write("a.md", "text");
  await store.close();
  expect(synced).toEqual(expect.arrayContaining([root, join(root, "made"), join(root, "made", "with")]));
});
