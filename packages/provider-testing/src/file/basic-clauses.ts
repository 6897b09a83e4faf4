import type { FileStore } from "@agentfw/core";
import { all, ensure, expectCode, same, sameList } from "../expect.ts";
import type { OpenedFileStore } from "../opened.ts";
import { show } from "../show.ts";
import { expectFile, expectListed, expectNoFile, type FileClause } from "./support.ts";

const TEXTS: readonly string[] = [
  "",
  "\n",
  "no line break at the end",
  "unix\nwindows\r\nold\rend\r\n",
  "\ufeffwith a byte order mark",
  "emoji 😀 👩‍👩‍👧‍👦, é, e\u0301, \u2028, \ufffd",
  "NUL \u0000 and escape \u001b",
  " leading and trailing \t\n\n\n",
  "%s #{x} $& $1 \\1 {{x}}",
];

/** Names that are odd and allowed. */
const ODD_NAMES: readonly string[] = [
  "a b.md",
  ".hidden",
  "-rf",
  "--help",
  "a..b",
  "__proto__",
  "constructor",
  "it's; $(id) & `ls`.md",
  "100%.md",
  "%2e%2e",
  "~",
  "#1.md",
  "[draft].md",
  "{x}.md",
  "notes.md.md",
  "console.md",
  "nulls.txt",
  "com10.md",
  "日本語.md",
  "😀.md",
  "null",
  "deep/er/and/deeper/file.md",
  `${"x".repeat(200)}.md`,
];

/** What every FileStore does. */
export const basicClauses: readonly FileClause[] = [
  {
    id: "F01",
    title: "the contract version is 1",
    contract: "FileStore",
    reason: "Core decides by it whether it can read the store.",
    async run(trial) {
      const { store } = await trial.open();
      same(store.contractVersion, 1, "contractVersion");
    },
  },
  {
    id: "F02",
    title: "what is written can be read and listed; an unknown file reads as undefined",
    contract: "FileStore",
    reason: "A missing file is an answer, and must be told from a failure.",
    async run(trial) {
      const { store } = await trial.open();
      await expectNoFile(store, "unknown.md", "an unknown file");
      await expectNoFile(store, "no/such/folder/unknown.md", "an unknown file in an unknown folder");
      await expectListed(store, "", [], "the files of an empty store");
      const { etag } = await store.write("notes/today.md", "one");
      same(await expectFile(store, "notes/today.md", "one", "a new file"), etag, "the etag that is read");
      await store.write("notes/today.md", "two");
      await expectFile(store, "notes/today.md", "two", "a file that was written again");
      await expectNoFile(store, "notes", "a directory is no file");
      await expectNoFile(store, "notes/today", "the name without its ending");
      await expectListed(store, "", ["notes/today.md"], "the files");
    },
  },
  {
    id: "F03",
    title: "text comes back as it was, line breaks and all",
    contract: "FileStore",
    reason: "Line numbers, hashes and diffs depend on every byte.",
    async run(trial) {
      const { store } = await trial.open();
      for (const [index, text] of TEXTS.entries()) {
        await store.write(`text-${index}.md`, text);
        await expectFile(store, `text-${index}.md`, text, `text ${index}`);
      }
      const large = `${"aé\u2028😀".repeat(100_000)}\n`;
      await store.write("large.md", large);
      await expectFile(store, "large.md", large, "a file of a million bytes");
      await store.write("large.md", "short");
      await expectFile(store, "large.md", "short", "a short text over a long one");
    },
  },
  {
    id: "F04",
    title: "what is no text is refused, and the file stays as it was",
    contract: "FileStore",
    reason: "A lone surrogate has no bytes; written anyway, it comes back as something else.",
    async run(trial) {
      const { store } = await trial.open();
      await store.write("a.md", "before");
      for (const text of ["\ud83d", "a\ude00b", undefined, null, 7, { text: "x" }]) {
        for (const path of ["a.md", "new.md"]) {
          const call = Reflect.apply(store.write, store, [path, text]);
          await expectCode(call, `write of ${show(text)}`, "configuration");
        }
      }
      await expectFile(store, "a.md", "before", "after refused writes");
      await expectListed(store, "", ["a.md"], "the files after refused writes");
    },
  },
  {
    id: "F05",
    title: "delete says whether a file was deleted, and leaves the others",
    contract: "FileStore",
    reason: "A cleanup that runs twice is not an error, and must not reach further than its file.",
    async run(trial) {
      const { store } = await trial.open();
      same(await store.delete("unknown.md"), false, "delete of an unknown file");
      for (const path of ["a", "ab", "a.md", "b/a", "b/c/a"]) {
        await store.write(path, path);
      }
      same(await store.delete("b"), false, "delete of a directory");
      same(await store.delete("a"), true, "delete of a file");
      same(await store.delete("a"), false, "delete of a deleted file");
      await expectNoFile(store, "a", "a deleted file");
      await expectListed(store, "", ["ab", "a.md", "b/a", "b/c/a"], "the other files");
      await store.write("a", "again");
      await expectFile(store, "a", "again", "a file that was written after a delete");
    },
  },
  {
    id: "F06",
    title: "list gives all files below a directory, at any depth, sorted",
    contract: "FileStore",
    reason: "A directory whose name begins alike is another directory.",
    async run(trial) {
      const { store } = await trial.open();
      const paths = ["b.md", "a.md", "dir/z.md", "dir/sub/deep/x.md", "dir/a.md", "dir2/a.md", "di/a.md", "dir.md"];
      await all(paths.map((path) => store.write(path, path)));
      await expectListed(store, "", paths, "the root");
      await expectListed(store, "dir", ["dir/z.md", "dir/sub/deep/x.md", "dir/a.md"], "a directory");
      await expectListed(store, "dir/sub", ["dir/sub/deep/x.md"], "a directory below another");
      await expectListed(store, "unknown", [], "an unknown directory");
      await expectListed(store, "dir/unknown", [], "an unknown directory below another");
      for (const path of ["dir/z.md", "dir/sub/deep/x.md", "dir/a.md"]) {
        await store.delete(path);
      }
      await expectListed(store, "dir", [], "a directory whose files were deleted");
    },
  },
  {
    id: "F07",
    title: "odd names that are allowed are kept apart and come back as they were",
    contract: "FileStore",
    reason: "Names come from models; a shell, a template or an encoding must not change them.",
    async run(trial) {
      const { store } = await trial.open();
      for (const path of ODD_NAMES) {
        await store.write(path, `text of ${path}`);
      }
      await expectListed(store, "", ODD_NAMES, "the files");
      for (const path of ODD_NAMES) {
        await expectFile(store, path, `text of ${path}`, show(path));
      }
      for (const path of ODD_NAMES.filter((_, index) => index % 2 === 0)) {
        same(await store.delete(path), true, `delete of ${show(path)}`);
      }
      await expectListed(
        store,
        "",
        ODD_NAMES.filter((_, index) => index % 2 === 1),
        "every second file",
      );
    },
  },
  {
    id: "F08",
    title: "64 files written at once are all there",
    contract: "FileStore",
    reason: "Agents call tools in parallel; folders are made by several writers at once.",
    async run(trial) {
      const { store } = await trial.open();
      const paths = Array.from({ length: 64 }, (_, index) => `dir-${index % 5}/sub-${index % 3}/file-${index}.md`);
      const etags = await all(paths.map(async (path) => (await store.write(path, `text of ${path}`)).etag));
      await expectListed(store, "", paths, "the files");
      for (const [index, path] of paths.entries()) {
        const etag = await expectFile(store, path, `text of ${path}`, path);
        ensure(etag === etags[index], "the etag is the one that write gave", etag);
      }
    },
  },
  {
    id: "F37",
    title: "a listing with etags, where there is one, has what list has and the etags that read gives",
    contract: "FileStore",
    reason: "Whoever keeps what was read reads only what changed; a change that is not listed is never seen.",
    async run(trial) {
      const { store } = await trial.open();
      const { listEntries } = store;
      if (listEntries === undefined) {
        return trial.notCovered("the store has no listEntries");
      }
      const paths = ["b.md", "dir/z.md", "dir/sub/x.md", "dir2/a.md"];
      await all(paths.map((path) => store.write(path, "one")));
      for (const directory of ["", "dir", "unknown"]) {
        await expectEntries(store, directory, `the entries below ${show(directory)}`);
      }
      await store.write("dir/z.md", "one");
      await store.delete("b.md");
      await expectEntries(store, "", "after a write of the same text and a delete");
      const others = await Reflect.apply(listEntries, store, ["", { owner: "another" }]);
      same(others.length, 0, "the number of another owner's entries");
    },
  },
  {
    id: "F39",
    title: "a directory of 120 files is listed and searched whole",
    contract: "FileStore",
    reason: "Backends list in pages; the files behind the first page must not be forgotten.",
    upcoming: true,
    async run(trial) {
      await expectManyFiles(await trial.open());
    },
  },
];

async function expectManyFiles({ store }: OpenedFileStore): Promise<void> {
  const paths = Array.from({ length: 120 }, (_, index) => `many/file-${index}.md`);
  await all(paths.map((path) => store.write(path, "line")));
  for (const directory of ["", "many"]) {
    await expectListed(store, directory, paths, `the files below ${show(directory)}`);
    const entries = (await store.listEntries?.(directory)) ?? paths.map((path) => ({ path }));
    const listed = entries.map(({ path }) => path).sort();
    sameList(listed, [...paths].sort(), `the entries below ${show(directory)}`);
    const found = (await store.search("line", { directory: directory || undefined, limit: 200 })).map(
      ({ path }) => path,
    );
    sameList(found.sort(), [...paths].sort(), `the files that are searched below ${show(directory)}`);
  }
}

async function expectEntries(store: FileStore, directory: string, guarantee: string): Promise<void> {
  const listed = await store.list(directory);
  const expected = await all(listed.map(async (path) => `${path} ${(await store.read(path))?.etag}`));
  const entries = (await store.listEntries?.(directory)) ?? [];
  sameList(
    entries.map(({ path, etag }) => `${path} ${etag}`),
    expected,
    guarantee,
  );
}
