import { changed, MOMENTS, type Moment, silently, whileChanging } from "../changed-arguments.ts";
import { ensure, same, sameList } from "../expect.ts";
import type { OpenedFileStore } from "../opened.ts";
import type { FileClause, FileTrial } from "./support.ts";

/** Options of a call, which are the caller's to change. */
type Scope = { readonly owner?: string | null };

/** What belongs to callers: their arguments, also while a call runs, and the results that they were given. */
export const argumentClauses: readonly FileClause[] = [
  {
    id: "F38",
    title: "what the caller does to options once a call has returned, and to results, changes nothing",
    contract: "FileStore",
    reason: "A caller that uses one object of options for many calls must not change those that still run.",
    async run(trial) {
      for (const moment of MOMENTS) {
        await expectWritesAsPassed(trial, moment);
        await expectReadsAsPassed(trial, moment);
        await expectSearchAsPassed(trial, moment);
      }
      await expectResultsUnshared(trial);
    },
  },
];

async function expectWritesAsPassed(trial: FileTrial, moment: Moment): Promise<void> {
  const opened = await trial.open();
  const { store } = opened;
  const scope = ownScope(opened);
  const change = (options: object) => () => {
    const others = { owner: "bob", ifMatch: "changed", ifNoneMatch: undefined };
    Object.assign(options, others, { signal: AbortSignal.abort() });
  };
  const first = { ...scope, ifNoneMatch: "*" as const };
  await whileChanging(moment, "write of a new file", () => store.write("new.md", "new", first), change(first));
  same((await store.read("new.md", scope))?.text, "new", changed("write of a new file", moment));
  const written = await store.write("a.md", "one", scope);
  const second = { ...scope, ifMatch: written.etag };
  await whileChanging(moment, "write", () => store.write("a.md", "two", second), change(second));
  same((await store.read("a.md", scope))?.text, "two", changed("write", moment));
  const third = { ...scope };
  const deleted = await whileChanging(moment, "delete", () => store.delete("a.md", third), change(third));
  same(deleted, true, changed("delete", moment));
}

async function expectReadsAsPassed(trial: FileTrial, moment: Moment): Promise<void> {
  const opened = await trial.open();
  const { store } = opened;
  const scope = ownScope(opened);
  await store.write("folder/a.md", "one", scope);
  const during = <T>(name: string, call: (options: Scope) => Promise<T>): Promise<T> => {
    const options = { ...scope };
    return whileChanging(
      moment,
      name,
      () => call(options),
      () => {
        Object.assign(options, { owner: "bob", signal: AbortSignal.abort() });
      },
    );
  };
  const file = await during("read", (options) => store.read("folder/a.md", options));
  same(file?.text, "one", changed("read", moment));
  const isThere = await during("exists", (options) => store.exists("folder/a.md", options));
  same(isThere, true, changed("exists", moment));
  const paths = await during("list", (options) => store.list("folder", options));
  sameList(paths, ["folder/a.md"], changed("list", moment));
  if (store.listEntries !== undefined) {
    const entries = await during(
      "listEntries",
      async (options) => (await store.listEntries?.("folder", options)) ?? [],
    );
    sameList(
      entries.map(({ path }) => path),
      ["folder/a.md"],
      changed("listEntries", moment),
    );
  }
}

async function expectSearchAsPassed(trial: FileTrial, moment: Moment): Promise<void> {
  const opened = await trial.open();
  const { store } = opened;
  const scope = ownScope(opened);
  for (const path of ["folder/a.md", "folder/b.md", "other/a.md"]) {
    await store.write(path, `text of ${path}`, scope);
  }
  const options = { ...scope, directory: "folder", limit: 1 };
  const change = () => {
    const others = { owner: "bob", directory: "other", limit: 100, timeoutMs: 1 };
    Object.assign(options, others, { signal: AbortSignal.abort() });
  };
  const found = await whileChanging(moment, "search", () => store.search("text", options), change);
  same(found.length, 1, `${changed("search", moment)}: the number of lines`);
  ensure(found[0]?.path.startsWith("folder/") === true, `${changed("search", moment)}: the directory`, found[0]?.path);
}

async function expectResultsUnshared(trial: FileTrial): Promise<void> {
  const { store } = await trial.open();
  await store.write("a.md", "one");
  for (const result of [await store.read("a.md"), ...(await store.search("one"))]) {
    silently(() => Object.assign(Object(result), { text: "changed", etag: "changed", path: "changed.md" }));
  }
  const paths = await store.list("");
  silently(() => paths.splice(0, 1, "changed.md", "more.md"));
  const entries = (await store.listEntries?.("")) ?? [];
  silently(() => Object.assign(Object(entries[0]), { path: "changed.md", etag: "changed" }));
  same((await store.read("a.md"))?.text, "one", "the text after changing a result");
  sameList(await store.list(""), ["a.md"], "the files after changing a result");
  const found = (await store.search("one")).map(({ path, text }) => `${path}: ${text}`);
  sameList(found, ["a.md: one"], "what is found after changing a result");
  if (store.listEntries !== undefined) {
    const again = (await store.listEntries("")).map(({ path }) => path);
    sameList(again, ["a.md"], "the entries after changing a result");
  }
}

/** An owner, unless the store derives the identity itself. */
function ownScope({ asOwner }: OpenedFileStore): Scope {
  return asOwner === undefined ? { owner: "alice" } : {};
}
