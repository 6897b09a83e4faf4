import { posix } from "node:path";
import type { OpenedFileStore } from "../../../src/index.ts";
import { fileMutant, type Mutant, perWorld } from "../../support/mutant.ts";
import { busy, onDelete, onExists, onList, onRead, onRefusedWrite, onWritten, unlessCode } from "./detail-helpers.ts";

const owners = perWorld(() => new Set<string | null>());

/** Defects of paths and links that only one look at them shows. */
const pathDefects: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("lists nothing for a directory that leads out", ["F18"], (store) => ({
    list: (directory, options) => unlessCode(store.list(directory, options), "configuration", () => []),
  })),
  fileMutant("finds nothing in a directory that leads out", ["F18"], (store) => ({
    search: (pattern, options) => unlessCode(store.search(pattern, options), "configuration", () => []),
  })),
  fileMutant("writes under the last part of a path that it refuses", ["F18"], (store) =>
    onRefusedWrite(store, ["configuration"], (path, text) => store.write(`${path}`.split("/").at(-1) ?? "", text)),
  ),
  fileMutant("empties the file that a path it refuses leads to", ["F18"], (store) =>
    onRefusedWrite(store, ["configuration"], async (path) => {
      const normal = posix.normalize(`${path}`);
      await ((await store.exists(normal)) && store.write(normal, ""));
    }),
  ),
  fileMutant("says that a file with an escaped name is missing", ["F19"], (store) =>
    onExists(store, (isThere, path) => isThere && !path.includes("%")),
  ),
  fileMutant("lists escaped names unescaped when it lists everything", ["F19"], (store) =>
    onList(store, (paths, directory) => (directory === "" ? paths.map((path) => decodeURIComponent(path)) : paths)),
  ),
  fileMutant("leaves what it was to delete under an escaped name", ["F19"], (store) => ({
    delete: (path, options) => (path.includes("%") ? store.exists(path, options) : store.delete(path, options)),
  })),
  fileMutant("lists nothing below a directory with an escaped name", ["F19"], (store) =>
    onList(store, (paths, directory) => (directory.includes("%") ? [] : paths)),
  ),
  fileMutant("finds nothing below a directory with an escaped name", ["F19"], (store) => ({
    search: async (pattern, options) => {
      const found = await store.search(pattern, options);
      return options?.directory?.includes("%") ? [] : found;
    },
  })),
  fileMutant(
    "says that its server is busy when a name is escaped",
    ["F19"],
    (store) => ({
      write: async (path, text, options) => (path.includes("%2f") ? busy() : store.write(path, text, options)),
    }),
    { rejects: "the server is busy" },
  ),
  fileMutant("says that the file exists that a link leads to", ["F20"], (store, world) => ({
    exists: async (path, options) => world.links.get(path) === "file" || store.exists(path, options),
  })),
  fileMutant("searches the file that a link leads to", ["F20"], (store, world) => ({
    search: async (pattern, options) => {
      const found = await store.search(pattern, options);
      return [...found, ...[...world.links.keys()].map((path) => ({ path, line: 1, text: world.outside }))];
    },
  })),
  fileMutant("lists the entries of a directory that a link leads to", ["F20"], (store, world) => ({
    listEntries: async (directory, options) => {
      const entries = (await store.listEntries?.(directory, options)) ?? [];
      return [...entries, ...[...world.links.keys()].map((path) => ({ path: `${path}/o.md`, etag: "1" }))];
    },
  })),
  fileMutant("deletes the file that a link leads to", ["F20"], (store, world) => ({
    delete: async (path, options) => {
      if (!world.links.has(path)) {
        return store.delete(path, options);
      }
      world.outside = "";
      return true;
    },
  })),
  fileMutant("takes a file beside a link for one", ["F20"], (store, world) =>
    onRead(store, (file, path) =>
      [...world.links.keys()].some((link) => posix.dirname(link) === posix.dirname(path) && path.includes("/"))
        ? undefined
        : file,
    ),
  ),
  fileMutant("reads an unknown file beside a link as an empty text", ["F20"], (store, world) =>
    onRead(store, (file, path) =>
      [...world.links.keys()].some((link) => posix.dirname(link) === posix.dirname(path))
        ? (file ?? { text: "", etag: "0" })
        : file,
    ),
  ),
];

/** Defects of owners that only one look at them shows. */
const ownerDefects: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("reads for an owner the file of one with a capital letter, if there is one", ["F21"], (store) =>
    onRead(store, async (file, path, options) => {
      const owner = options?.owner?.replace(/^[a-z]/, (letter) => letter.toUpperCase());
      return file && ((await store.read(path, { owner })) ?? file);
    }),
  ),
  fileMutant("says of an owner whose name is a path that nothing exists", ["F21"], (store) =>
    onExists(store, (isThere, _, options) => isThere && !options?.owner?.includes("/")),
  ),
  fileMutant("lists the files of every owner once an owner has some", ["F21"], (store, world) => ({
    ...onWritten(store, (_path, _text, _etag, options) => owners(world).add(options?.owner ?? null)),
    list: async (directory, options) => {
      const own = await store.list(directory, options);
      const all = [...owners(world)].map((owner) => store.list(directory, { owner }));
      return own.length === 0 ? own : (await Promise.all(all)).flat();
    },
  })),
  fileMutant("says that it deleted nothing for an owner when it did", ["F21"], (store) =>
    onDelete(store, (isDone, _, options) => isDone && (options?.owner ?? null) === null),
  ),
  fileMutant("deletes the file of every owner", ["F21"], (store, world) => ({
    ...onWritten(store, (_path, _text, _etag, options) => owners(world).add(options?.owner ?? null)),
    ...onDelete(store, async (isDone, path) => {
      await Promise.all([...owners(world)].map((owner) => store.delete(path, { owner })));
      return isDone;
    }),
  })),
  fileMutant("empties the file of every owner when one deletes it", ["F21"], (store, world) => ({
    ...onWritten(store, (_path, _text, _etag, options) => owners(world).add(options?.owner ?? null)),
    ...onDelete(store, async (isDone, path, options) => {
      const others = [...owners(world)].filter((owner) => isDone && owner !== options?.owner);
      await Promise.all(
        others.map(async (owner) => (await store.exists(path, { owner })) && store.write(path, "", { owner })),
      );
      return isDone;
    }),
  })),
  fileMutant("reads an unowned file for an owner who has none", ["F21"], (store) =>
    onRead(store, async (file, path) => file ?? (await store.read(path))),
  ),
  fileMutant("looks for a file among those of every owner", ["F21"], (store) =>
    onExists(store, async (isThere, path) => isThere || (await store.exists(path))),
  ),
  fileMutant("lists the unowned files for an owner who has none", ["F21"], (store) =>
    onList(store, (paths, directory) => (paths.length === 0 ? store.list(directory) : paths)),
  ),
  fileMutant("lists the unowned entries for an owner who has none", ["F21"], (store) => ({
    listEntries: async (directory, options) => {
      const entries = (await store.listEntries?.(directory, options)) ?? [];
      return entries.length === 0 ? ((await store.listEntries?.(directory)) ?? []) : entries;
    },
  })),
  fileMutant("finds lines of unowned files for an owner who has none", ["F21"], (store) => ({
    search: async (pattern, options) => {
      const found = await store.search(pattern, options);
      return found.length === 0 ? store.search(pattern, { ...options, owner: null }) : found;
    },
  })),
  fileMutant("says that it deleted what only others have", ["F21"], (store) =>
    onDelete(store, async (isDone, path) => isDone || store.exists(path)),
  ),
  fileMutant("writes for owner null apart from what is written for nobody", ["F22"], (store) => ({
    write: (path, text, options) => store.write(path, text, apart(options)),
  })),
  fileMutant("lists nothing for owner null", ["F22"], (store) => ({
    list: (directory, options) => store.list(directory, apart(options)),
  })),
  fileMutant("lists no entries for owner null", ["F22"], (store) => ({
    listEntries: async (directory, options) => (await store.listEntries?.(directory, apart(options))) ?? [],
  })),
  fileMutant("says that nothing exists for owner null", ["F22"], (store) => ({
    exists: (path, options) => store.exists(path, apart(options)),
  })),
  fileMutant("finds nothing for owner null", ["F22"], (store) => ({
    search: (pattern, options) => store.search(pattern, apart(options)),
  })),
  fileMutant("says that it deleted nothing for owner null", ["F22"], (store) =>
    onDelete(store, (isDone, _, options) => isDone && options?.owner !== null),
  ),
  fileMutant("says that it deleted a file for owner null, and did not", ["F22"], (store) => ({
    delete: (path, options) => (options?.owner === null ? store.exists(path) : store.delete(path, options)),
  })),
];

/** Every defect of paths and owners that only one look shows. */
export const pathDetailMutants: readonly Mutant<OpenedFileStore>[] = [...pathDefects, ...ownerDefects];

/** Nobody, when said, as an owner of that name. */
function apart<T extends { readonly owner?: string | null | undefined }>(options: T | undefined): T | undefined {
  return options?.owner === null ? { ...options, owner: "null" } : options;
}
