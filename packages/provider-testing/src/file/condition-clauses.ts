import type { FileStore } from "@agentfw/core";
import { all, endings, ensure, expectCode, expectError, present, same } from "../expect.ts";
import { show } from "../show.ts";
import { expectFile, expectListed, expectNoFile, type FileClause } from "./support.ts";

/** Atomic writes, and writes that depend on what is there. */
export const conditionClauses: readonly FileClause[] = [
  {
    id: "F09",
    title: "every write gives a new etag, also of the same text, also after a delete",
    contract: "FileStore",
    reason: "Whoever compares etags must notice every write.",
    async run(trial) {
      const { store } = await trial.open();
      const seen = new Set<string>();
      for (let turn = 0; turn < 6; turn += 1) {
        const { etag } = await store.write("a.md", "the same text");
        ensure(!seen.has(etag) && etag !== "", "an etag is new with every write to the file", etag);
        seen.add(etag);
        same((await store.read("a.md"))?.etag, etag, "the etag that is read");
        same((await store.read("a.md"))?.etag, etag, "the etag that is read again");
        if (turn % 2 === 1) {
          await store.delete("a.md");
        }
      }
    },
  },
  {
    id: "F10",
    title: "ifMatch writes only over that version; else a conflict carries the current etag, if there is one",
    contract: "FileStore",
    reason: "An edit that was made from an old text must not replace a newer one.",
    async run(trial) {
      const { store } = await trial.open();
      const first = await store.write("a.md", "one");
      const second = await store.write("a.md", "two", { ifMatch: first.etag });
      await expectFile(store, "a.md", "two", "a write under the current etag");
      for (const ifMatch of [first.etag, "no such etag", ""]) {
        const call = store.write("a.md", "three", { ifMatch });
        const error = await expectCode(call, `ifMatch ${show(ifMatch)}`, "conflict");
        same(error.currentVersion, second.etag, "currentVersion of the conflict");
      }
      same(await expectFile(store, "a.md", "two", "after the conflicts"), second.etag, "the etag after the conflicts");
      await store.delete("a.md");
      const call = store.write("a.md", "three", { ifMatch: second.etag });
      const error = await expectCode(call, "ifMatch on a deleted file", "conflict");
      same(error.currentVersion, undefined, "currentVersion where there is no file");
      await expectNoFile(store, "a.md", "a file that a refused write did not create");
    },
  },
  {
    id: "F11",
    title: 'ifNoneMatch "*" writes only where there is no file; else a conflict carries the current etag',
    contract: "FileStore",
    reason: "A tool that saves without overwriting must be able to.",
    async run(trial) {
      const { store } = await trial.open();
      const { etag } = await store.write("a.md", "one", { ifNoneMatch: "*" });
      const call = store.write("a.md", "two", { ifNoneMatch: "*" });
      const error = await expectCode(call, "ifNoneMatch on a file", "conflict");
      same(error.currentVersion, etag, "currentVersion of the conflict");
      same(await expectFile(store, "a.md", "one", "after the conflict"), etag, "the etag after the conflict");
      await store.delete("a.md");
      await store.write("a.md", "three", { ifNoneMatch: "*" });
      await expectFile(store, "a.md", "three", "a write after a delete");
    },
  },
  {
    id: "F12",
    title: "of 20 conditional writes at once exactly one wins",
    contract: "FileStore",
    reason: "A look and a write in two steps lets several through.",
    async run(trial) {
      const { store } = await trial.open();
      await expectOneWinner([store]);
    },
  },
  {
    id: "F13",
    title: "of 20 conditional writes at once through two stores exactly one wins",
    contract: "FileStore",
    reason: "A lock inside one process does not keep another process out.",
    requires: { hooks: ["another"] },
    async run(trial) {
      const opened = await trial.open();
      await expectOneWinner([opened.store, await present(opened.another?.(), "another()")]);
    },
  },
  {
    id: "F14",
    title: "readers see the old text or the new one, never a mixture and never nothing",
    contract: "FileStore",
    reason: "A half-written file is read as the truth, and then written back.",
    async run(trial) {
      const { store } = await trial.open();
      const texts = ["a", "b", "c"].map((letter) => `${letter.repeat(79)}\n`.repeat(2_500));
      await store.write("a.md", present(texts[0], "a text"));
      const writer = async () => {
        for (let turn = 1; turn < 13; turn += 1) {
          await store.write("a.md", present(texts[turn % texts.length], "a text"));
        }
      };
      const reader = async () => {
        for (let turn = 0; turn < 12; turn += 1) {
          const { text } = present(await store.read("a.md"), "a file that is being written again");
          ensure(texts.includes(text), "a reader sees one whole text", text.length);
        }
      };
      await all([writer(), reader(), reader(), reader()]);
    },
  },
  {
    id: "F15",
    title: "what one store writes or deletes, another store sees at once",
    contract: "FileStore",
    reason: "The next request is often answered by another process.",
    requires: { hooks: ["another"] },
    async run(trial) {
      const opened = await trial.open();
      const { store } = opened;
      const other = await present(opened.another?.(), "another()");
      await expectNoFile(other, "a.md", "before the first write");
      const { etag } = await store.write("a.md", "one");
      same(await expectFile(other, "a.md", "one", "a write of the first store"), etag, "the etag");
      await other.write("a.md", "two", { ifMatch: etag });
      await expectFile(store, "a.md", "two", "a write of the second store");
      await other.delete("a.md");
      await expectNoFile(store, "a.md", "after a delete by the second store");
      await expectListed(store, "", [], "the files after a delete by the second store");
    },
  },
  {
    id: "F16",
    title:
      "names of files and directories that differ only in case or Unicode form never overwrite each other: the second is a conflict",
    contract: "FileStore",
    reason: "On many disks they are one file; what works here must work there.",
    async run(trial) {
      const { store } = await trial.open();
      const twins = [
        ["Notes.md", "notes.md"],
        ["readme.md", "README.md"],
        ["dir/A.md", "dir/a.md"],
        ["Folder/x.md", "folder/x.md"],
        ["b\u00fccher/x.md", "bu\u0308cher/x.md"],
        ["caf\u00e9.md", "cafe\u0301.md"],
        ["ÄÖ.md", "äö.md"],
      ] as const;
      for (const [first, second] of twins) {
        await store.write(first, "first");
        for (const options of [{}, { ifNoneMatch: "*" as const }]) {
          await expectCode(store.write(second, "second", options), `write of ${show(second)}`, "conflict");
        }
        await expectNoFile(store, second, show(second));
        same(await store.delete(second), false, `delete of ${show(second)}`);
        await expectFile(store, first, "first", `${show(first)} after a write and a delete of ${show(second)}`);
      }
      // A directory has a name too: what is written below the second would turn up below the first, or hide it.
      for (const path of ["folder/y.md", "FOLDER/sub/y.md", "folder", "DIR/y.md"]) {
        await expectCode(store.write(path, "below a look-alike"), `write of ${show(path)}`, "conflict");
        await expectNoFile(store, path, show(path));
      }
      for (const directory of ["folder", "DIR", "bu\u0308cher"]) {
        await expectListed(store, directory, [], `the files below ${show(directory)}`);
        const found = await store.search("first", { directory });
        same(found.length, 0, `the number of lines that are found below ${show(directory)}`);
        const entries = (await store.listEntries?.(directory)) ?? [];
        same(entries.length, 0, `the number of entries below ${show(directory)}`);
      }
      const firsts = twins.map(([first]) => first);
      await expectListed(store, "", firsts, "the files");
    },
  },
  {
    id: "F17",
    title: "a name is a file or a directory, never both",
    contract: "FileStore",
    reason: "On a disk it cannot be both; what works here must work there.",
    async run(trial) {
      const { store } = await trial.open();
      await store.write("a", "file");
      await store.write("dir/b", "file");
      await expectCode(store.write("a/b", "below a file"), "a file below a file", "conflict");
      await expectCode(store.write("a/b/c", "below a file"), "a file far below a file", "conflict");
      await expectCode(store.write("dir", "over a directory"), "a file over a directory", "conflict");
      await expectFile(store, "a", "file", "the file");
      await expectListed(store, "", ["a", "dir/b"], "the files");
    },
  },
];

async function expectOneWinner(stores: readonly FileStore[]): Promise<void> {
  const store = present(stores[0], "a store");
  await expectOneWrite(stores, "new.md", { ifNoneMatch: "*" });
  const { etag } = await store.write("old.md", "start");
  await expectOneWrite(stores, "old.md", { ifMatch: etag });
}

async function expectOneWrite(
  stores: readonly FileStore[],
  path: string,
  condition: { readonly ifMatch?: string; readonly ifNoneMatch?: "*" },
): Promise<void> {
  const ended = await endings(
    Array.from({ length: 20 }, (_, index) =>
      present(stores[index % stores.length], "a store").write(path, `text ${index}`, condition),
    ),
  );
  for (const { error } of ended) {
    if (error !== undefined) {
      expectError(error, "every write but one", "conflict");
    }
  }
  same(ended.filter(({ error }) => error === undefined).length, 1, `the number of writes to ${path} that won`);
  const winner = ended.findIndex(({ error }) => error === undefined);
  for (const store of stores) {
    const etag = await expectFile(store, path, `text ${winner}`, "the text of the winner");
    same(etag, ended[winner]?.value?.etag, "the etag of the winner");
  }
}
