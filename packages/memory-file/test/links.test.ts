import { spawnSync } from "node:child_process";
import { link, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import type { FileStore } from "@agentfw/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { beginOn } from "./support/memory.ts";
import { codeOf, digestOf, openStore, temporaryDirectory } from "./support/store.ts";

const SECRET = "the secret outside";

/** A root and, beside it, a tree of the same shape that nobody may touch. */
async function place(): Promise<{
  base: string;
  root: string;
  outside: string;
  store: FileStore;
  expectUntouched(): Promise<void>;
}> {
  const base = await temporaryDirectory();
  const outside = join(base, "outside");
  await mkdir(join(outside, "users", "42"), { recursive: true });
  await mkdir(join(outside, "empty"));
  for (const path of ["o.md", "users/o.md", "users/42/o.md"]) {
    await writeFile(join(outside, path), SECRET);
  }
  const before = await digestOf(outside);
  const { store, root } = await openStore({ root: join(base, "root") });
  await store.write("users/42/own.md", "own text");
  return {
    base,
    root,
    outside,
    store,
    async expectUntouched() {
      expect(await digestOf(outside)).toBe(before);
      expect((await readdir(base)).sort()).toEqual(["outside", "root"]);
    },
  };
}

/** What can be put in the place of something: where, and what it leads to, relative to the directory of the test. */
const LINKS: readonly (readonly [at: string, to: string])[] = [
  ["root/link", "outside/o.md"],
  ["root/link", "outside"],
  ["root/link", "outside/nothing"],
  ["root/link", "outside/empty"],
  ["root/link", "root"],
  ["root/link", "."],
  ["root/link", "root/link"],
  ["root/users/link", "outside/users"],
  ["root/users/42/link", "outside/users/42/o.md"],
  ["root/users/42/link", "outside/users/42"],
  ["root/users/42/link", "root/users/42/own.md"],
  ["root/users/42/link", "outside/nothing"],
  ["root/users/42/link.md", "outside/nothing.md"],
  ["root/other", "outside/users"],
  ["root/_owners", "outside"],
  ["root/_owners/ann", "outside"],
];

async function everyCall(store: FileStore, path: string, owner: string | null): Promise<string> {
  const scope = { owner };
  const calls: (() => Promise<unknown>)[] = [
    () => store.read(path, scope),
    () => store.exists(path, scope),
    () => store.list(path, scope),
    () => store.list("", scope),
    () => store.listEntries?.(path, scope) ?? Promise.resolve(),
    () => store.search(".", { ...scope, directory: path }),
    () => store.search(".", scope),
    () => store.write(path, "written over", scope),
    () => store.write(path, "written over", { ...scope, ifNoneMatch: "*" }),
    () => store.write(`${path}/new.md`, "written through", scope),
    () => store.write(`${path}/o.md`, "written through", scope),
    () => store.write(`${path}/deep/er/new.md`, "written through", scope),
    () => store.read(`${path}/o.md`, scope),
    () => store.exists(`${path}/o.md`, scope),
    () => store.delete(`${path}/o.md`, scope),
    () => store.delete(path, scope),
  ];
  const seen: string[] = [];
  for (const call of calls) {
    seen.push(
      await call().then(
        (value) => JSON.stringify(value ?? null),
        (error: unknown) => String(error),
      ),
    );
  }
  return seen.join("\n");
}

describe("a link", () => {
  test.each(LINKS)("at %s to %s is not followed by any call", async (at, to) => {
    const { base, store, expectUntouched } = await place();
    await mkdir(dirname(join(base, at)), { recursive: true });
    await symlink(join(base, to), join(base, at));
    const isOwners = at.startsWith("root/_owners");
    const path = isOwners ? "o.md" : at.slice("root/".length);
    const seen = await everyCall(store, path, isOwners ? "ann" : null);
    expect(seen).not.toContain(SECRET);
    await expectUntouched();
    expect((await store.read("users/42/own.md"))?.text).toBe("own text");
  });

  test("at the scope costs the run its list and every tool its work, not the run", async () => {
    const { root, outside, store, expectUntouched } = await place();
    await symlink(join(outside, "users", "42"), join(root, "users", "43"));
    const provider = { scope: "users/43" };
    const run = await beginOn(store, provider);
    expect(run.index).toContain("cannot be read at the moment");
    for (const [tool, args] of [
      ["write", { file_name: "o.md", content: "x" }],
      ["read", { file_name: "o.md" }],
      ["delete", { file_name: "o.md" }],
      ["ls", {}],
      ["grep", { regex_pattern: "." }],
      ["replace", { file_name: "o.md", old_string: "secret", new_string: "x" }],
      ["replace_lines", { file_name: "o.md", edits: [{ line_number: 1, new_line: "" }] }],
    ] as const) {
      expect(await run.call(tool, args)).toMatch(/^Error: could not .*: the memory store does not allow it\.$/);
    }
    await expectUntouched();
  });

  test("in the place of the store's own directory stops writes, and reads go on", async () => {
    const { base, outside, expectUntouched } = await place();
    const { store, root } = await openStore({ root: join(base, "root", "second") });
    await mkdir(root);
    await writeFile(join(root, "a.md"), "text");
    await symlink(outside, join(root, "_store"));
    expect(await codeOf(store.write("b.md", "text"))).toBe("unauthorized");
    expect(await codeOf(store.delete("a.md"))).toBe("unauthorized");
    expect((await store.read("a.md"))?.text).toBe("text");
    await expectUntouched();
  });

  test("as the root is followed: whoever configures it may choose where it leads", async () => {
    const { base } = await place();
    await mkdir(join(base, "root", "volume"));
    await symlink(join(base, "root", "volume"), join(base, "root", "store"));
    const { store } = await openStore({ root: join(base, "root", "store") });
    await store.write("a/b.md", "text");
    expect((await store.read("a/b.md"))?.text).toBe("text");
  });

  test("of the hard kind is refused, and a write in its place leaves what it led to", async () => {
    const { root, outside, store, expectUntouched } = await place();
    await link(join(outside, "o.md"), join(root, "users", "42", "hard.md"));
    expect(await codeOf(store.read("users/42/hard.md"))).toBe("unauthorized");
    expect(await codeOf(store.exists("users/42/hard.md"))).toBe("unauthorized");
    expect(await store.search("secret")).toEqual([]);
    const run = await beginOn(store);
    expect(run.index).toContain('- "hard.md"\n');
    expect(JSON.stringify(await run.call("grep", { regex_pattern: "." }))).not.toContain(SECRET);
    await store.write("users/42/hard.md", "new");
    expect((await store.read("users/42/hard.md"))?.text).toBe("new");
    await expectUntouched();
  });
});

test("a pipe, a socket and a device are refused and never waited for", async () => {
  const { root, store } = await place();
  expect(spawnSync("mkfifo", [join(root, "pipe.md")]).status).toBe(0);
  const server = createServer().listen(join(root, "socket.md"));
  onTestFinished(() => void server.close());
  for (const path of ["pipe.md", "socket.md"]) {
    expect(await codeOf(store.read(path))).toBe("unauthorized");
    expect(await codeOf(store.exists(path))).toBe("unauthorized");
    expect(await codeOf(store.write(path, "x"))).toBe("unauthorized");
    expect(await codeOf(store.delete(path))).toBe("unauthorized");
  }
  expect(await store.list("")).toEqual(["users/42/own.md"]);
  expect(await store.search(".")).toHaveLength(1);
});

test("files that are no text are reported and left out of a search, and never read as something else", async () => {
  const { store, root, events } = await openStore({ maxFileBytes: 100 });
  await store.write("a.md", "text");
  await writeFile(join(root, "binary.md"), Buffer.from([0xff, 0xfe, 0x00]));
  await writeFile(join(root, "large.md"), "text".repeat(100));
  await writeFile(join(root, "bad\\name"), "text");
  expect(await codeOf(store.read("binary.md"))).toBe("corrupt");
  expect(await codeOf(store.read("large.md"))).toBe("too_large");
  expect(await store.list("")).toEqual(["a.md", "binary.md", "large.md"]);
  expect(await store.search("text")).toEqual([{ path: "a.md", line: 1, text: "text" }]);
  expect(events.map(({ type }) => type)).toEqual(["file_skipped", "file_skipped"]);
});
