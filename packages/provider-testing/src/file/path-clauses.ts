import type { FileStore } from "@agentfw/core";
import { all, endings, ensure, expectCode, present, same, sameList } from "../expect.ts";
import type { OpenedFileStore } from "../opened.ts";
import { show } from "../show.ts";
import { expectFile, expectListed, expectNoFile, type FileClause } from "./support.ts";

/** Paths that lead out, or mean something else on some system. */
const BAD_PATHS: readonly unknown[] = [
  "",
  ".",
  "..",
  "/",
  "/abs",
  "//host/o",
  "../o",
  "a/../../o",
  "a/../o",
  "a/..",
  "./o",
  "a/./o",
  "a//o",
  "a/",
  "C:\\o",
  "C:/o",
  "c:o",
  "\\\\host\\o",
  "\\o",
  "a\\o",
  "..\\o",
  "a\\..\\..\\o",
  "a\u0000.md",
  "a\u0000/../../o",
  "a\nb",
  "a\u001bb",
  "NUL.txt",
  "nul",
  "a/con",
  "con/a",
  "AUX.log",
  "com1.md",
  "COM9",
  "lpt1.tar.gz",
  "prn",
  "x.",
  "x ",
  "dir./o",
  "dir /o",
  "a.md:stream",
  "a*",
  "a?",
  "a|b",
  "a<b",
  '"a"',
  "\ud83d",
  "x".repeat(256),
  "é".repeat(128),
  undefined,
  null,
  7,
];

const OWNERS: readonly (string | null)[] = [
  "alice",
  "bob",
  null,
  "",
  "null",
  "Alice",
  "../bob",
  "a/b",
  "a",
  ".",
  "NUL",
];

/** Where a path leads, and to whose files. */
export const pathClauses: readonly FileClause[] = [
  {
    id: "F18",
    title: "paths that lead out of the root or mean something else on some system are refused by every call",
    contract: "FileStore",
    reason: "A model, or who writes to it, must not read or write the files of the machine.",
    async run(trial) {
      const { store } = await trial.open();
      await store.write("a/o", "inside");
      for (const path of BAD_PATHS) {
        await expectPathRefused(store, path);
      }
      // The empty path is the root, and a search without a directory is one of everything.
      for (const directory of BAD_PATHS.filter((path) => path !== "")) {
        const call = Reflect.apply(store.list, store, [directory]);
        await expectCode(call, `list(${show(directory)})`, "configuration");
        if (store.listEntries !== undefined) {
          const entries = Reflect.apply(store.listEntries, store, [directory]);
          await expectCode(entries, `listEntries(${show(directory)})`, "configuration");
        }
        if (directory !== undefined) {
          const search = Reflect.apply(store.search, store, ["inside", { directory }]);
          await expectCode(search, `search in ${show(directory)}`, "configuration");
        }
      }
      await expectListed(store, "", ["a/o"], "the files after refused calls");
      await expectFile(store, "a/o", "inside", "the file after refused calls");
    },
  },
  {
    id: "F19",
    title: "an escaped path is refused, or the name of a file of exactly that spelling",
    contract: "FileStore",
    reason: "A path that is decoded after it was checked was not checked.",
    async run(trial) {
      const { store } = await trial.open();
      await store.write("o", "inside");
      for (const path of [
        "%2e%2e/o",
        "a%2fb/o",
        "..%2fo",
        "%2e%2e%2fo",
        "..%5co",
        "%00",
        "a%2f..%2fo",
        "&#46;&#46;/o",
      ]) {
        const [ended] = await endings([store.write(path, `text of ${path}`)]);
        if (ended?.error === undefined) {
          await expectFile(store, path, `text of ${path}`, path);
          ensure((await store.list("")).includes(path), "the file is listed under its own spelling", path);
          await expectBelowItsFolder(store, path);
          await store.delete(path);
        } else {
          await expectCode(Promise.reject(ended.error), path, "configuration");
        }
        await expectListed(store, "", ["o"], `the files after ${path}`);
      }
    },
  },
  {
    id: "F20",
    title: "links are not followed at any depth, by any call",
    contract: "FileStore",
    reason: "One link in a folder that the model may write to opens the whole disk.",
    requires: { hooks: ["plantLink"] },
    async run(trial) {
      for (const kind of ["file", "directory", "dangling"] as const) {
        for (const at of ["link", "folder/link"]) {
          await expectLinkRefused(await trial.open(), at, kind);
        }
      }
    },
  },
  {
    id: "F21",
    title: "each owner has files of its own under every path: null, empty and look-alike owners too",
    contract: "Identity; FileStore",
    reason: "Reading, writing, deleting, listing and searching must all stay within the owner.",
    async run(trial) {
      const opened = await trial.open();
      const views = await all(OWNERS.map((owner) => viewOf(opened, owner)));
      for (const view of views) {
        await expectOwnFile(view, undefined, "before the first write");
        same(await view.delete("a.md"), false, `delete of what only others have, by ${view.name}`);
        await view.write("a.md", `text of ${view.name}`);
      }
      for (const view of views) {
        await expectOwnFile(view, `text of ${view.name}`, "while others have a file of that name");
      }
      for (const [index, view] of views.entries()) {
        same(await view.delete("a.md"), true, `delete by ${view.name}`);
        for (const other of views.slice(index + 1)) {
          same(await other.read("a.md"), `text of ${other.name}`, `the file of ${other.name} after another's delete`);
        }
      }
    },
  },
  {
    id: "F22",
    title: "no owner and owner null are the same, unowned files",
    contract: "Identity; FileStore",
    reason: "A caller that leaves the owner out must not get a third kind of owner.",
    async run(trial) {
      const { store } = await trial.open();
      await store.write("a.md", "one");
      same((await store.read("a.md", { owner: null }))?.text, "one", "the unowned file by owner null");
      await store.write("a.md", "two", { owner: null });
      await expectFile(store, "a.md", "two", "the unowned file without an owner");
      sameList(await store.list("", { owner: null }), ["a.md"], "the unowned files");
      const entries = (await store.listEntries?.("", { owner: null })) ?? [{ path: "a.md" }];
      same(entries[0]?.path, "a.md", "the unowned entries");
      same(await store.exists("a.md", { owner: null }), true, "the unowned file exists by owner null");
      sameList(
        (await store.search("o", { owner: null })).map(({ path }) => path),
        ["a.md"],
        "what is found in the unowned files",
      );
      same(await store.delete("a.md", { owner: null }), true, "delete of the unowned file by owner null");
      await expectNoFile(store, "a.md", "the unowned file after a delete by owner null");
    },
  },
];

async function expectBelowItsFolder(store: FileStore, path: string): Promise<void> {
  const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  if (folder !== "") {
    await expectListed(store, folder, [path], `the files below ${folder}`);
    const found = await store.search("text of", { directory: folder });
    same(found[0]?.path, path, `what is found below ${folder}`);
  }
}

/** Fails unless this text, or nothing, is what the owner has. Each call is one that could look at another's files. */
async function expectOwnFile(view: View, text: string | undefined, when: string): Promise<void> {
  const what = `${view.name}, ${when}`;
  same(await view.read("a.md"), text, `what is read by ${what}`);
  same(await view.exists("a.md"), text !== undefined, `what exists for ${what}`);
  const paths = text === undefined ? [] : ["a.md"];
  sameList(await view.list(), paths, `the files of ${what}`);
  sameList(await view.listEntries(), paths, `the entries of ${what}`);
  sameList(await view.search("^text of"), text === undefined ? [] : [text], `what is found by ${what}`);
}

async function expectPathRefused(store: FileStore, path: unknown): Promise<void> {
  for (const method of ["read", "write", "delete", "exists"] as const) {
    const call = Reflect.apply(store[method], store, method === "write" ? [path, "text"] : [path]);
    await expectCode(call, `${method} of the path ${show(path)}`, "configuration");
  }
}

/** A refusal of any kind is right, and so is treating the link as if it were not there; following it is not. */
async function expectLinkRefused(
  opened: OpenedFileStore,
  at: string,
  kind: "file" | "directory" | "dangling",
): Promise<void> {
  const { store } = opened;
  await store.write("folder/own.md", "own text");
  const link = await present(opened.plantLink?.(at, kind), "plantLink()");
  const path = kind === "directory" ? `${at}/o.md` : at;
  const ended = await endings<unknown>([
    store.read(path),
    store.exists(path),
    store.search("."),
    store.search(".", { directory: at }),
    store.list(""),
    store.list(at),
    store.listEntries?.("") ?? Promise.resolve(),
    store.listEntries?.(at) ?? Promise.resolve(),
    store.write(path, "written through a link"),
    store.write(`${path}/deeper.md`, "written through a link"),
    store.delete(path),
    store.write(at, "written over a link"),
  ]);
  ensure(ended[1]?.value !== true, `what a link to a ${kind} leads to does not exist here`);
  const seen = JSON.stringify(ended.map(({ value }) => value ?? null));
  ensure(!seen.includes(link.secret), `nothing behind a link to a ${kind} is shown`);
  ensure(!seen.includes("o.md"), `the names behind a link to a ${kind} are not listed`);
  same(await link.isOutsideUntouched(), true, `what is behind a link to a ${kind} is untouched`);
  await expectFile(store, "folder/own.md", "own text", "a file beside the link");
  await expectNoFile(store, "folder/other.md", "an unknown file beside the link");
}

/** The files as one owner sees them. */
interface View {
  readonly name: string;
  read(path: string): Promise<string | undefined>;
  write(path: string, text: string): Promise<unknown>;
  delete(path: string): Promise<boolean>;
  exists(path: string): Promise<boolean>;
  list(): Promise<string[]>;
  /** The paths of the listing with etags, where there is one; else those of `list`. */
  listEntries(): Promise<string[]>;
  search(pattern: string): Promise<string[]>;
}

/** A store that derives the identity itself gives a store for each owner; any other takes the owner with each call. */
async function viewOf(opened: OpenedFileStore, owner: string | null): Promise<View> {
  const own = await opened.asOwner?.(owner);
  const store = own ?? opened.store;
  const scope = own === undefined ? { owner } : {};
  return {
    name: show(owner),
    read: async (path) => (await store.read(path, scope))?.text,
    write: (path, text) => store.write(path, text, scope),
    delete: (path) => store.delete(path, scope),
    exists: (path) => store.exists(path, scope),
    list: () => store.list("", scope),
    listEntries: async () =>
      store.listEntries === undefined
        ? store.list("", scope)
        : (await store.listEntries("", scope)).map(({ path }) => path),
    search: async (pattern) => (await store.search(pattern, scope)).map(({ text }) => text),
  };
}
