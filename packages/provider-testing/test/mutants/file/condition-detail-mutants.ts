import { AgentFrameworkError } from "@agentfw/core";
import type { OpenedFileStore } from "../../../src/index.ts";
import { fileMutant, type Mutant, perWorld } from "../../support/mutant.ts";
import {
  busy,
  foldersOf,
  insteadOfRefusal,
  onDelete,
  onExists,
  onList,
  onRead,
  onRefusedWrite,
  onWritten,
  scopeOf,
} from "./detail-helpers.ts";

const texts = perWorld(() => new Map<string, string>());
const cached = perWorld(() => new Map<string, string>());
const lastWrite = perWorld(() => ({ wasConditional: false }));
const stores = perWorld(() => ({ count: 0 }));

/** Defects of etags and conditions that only one look at them shows. */
const conditionDefects: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("answers from its cache, and looks afterwards", ["F09"], (store, world) => ({
    ...onRead(store, (file, path) => {
      const etag = cached(world).get(path);
      cached(world).set(path, file?.etag ?? "");
      return file && { ...file, etag: etag || file.etag };
    }),
  })),
  fileMutant("renews the etag with every read", ["F09"], (store) =>
    onRead(store, async (file, path, options) => {
      await (file && store.write(path, file.text, scopeOf(options)));
      return file;
    }),
  ),
  fileMutant("says that a file is missing after a conditional write, until the next one", ["F10"], (store, world) => ({
    write: async (path, text, options) => {
      lastWrite(world).wasConditional = false;
      const result = await store.write(path, text, options);
      lastWrite(world).wasConditional = options?.ifMatch !== undefined;
      return result;
    },
    ...onExists(store, (isThere) => isThere && !lastWrite(world).wasConditional),
  })),
  fileMutant(
    "says that its server is busy when another version is there",
    ["F10"],
    (store) =>
      insteadOfRefusal(store, "conflict", ({ currentVersion }, _, options) =>
        currentVersion !== undefined && options?.ifMatch !== undefined ? busy(currentVersion) : undefined,
      ),
    { rejects: "the server is busy" },
  ),
  fileMutant("renews the etag when it refuses an empty one", ["F10"], (store) =>
    onRefusedWrite(store, ["conflict"], async (path, _, options) => {
      const file = await store.read(path, scopeOf(options));
      await (file && options?.ifMatch === "" && store.write(path, file.text, scopeOf(options)));
    }),
  ),
  fileMutant(
    "writes the text before it looks whether it may, and the etag afterwards",
    ["F10", "F11", "F12", "F13", "F33", "F36"],
    (store, world) => ({
      write: (path, text, options) => {
        texts(world).set(path, text);
        return store.write(path, text, options);
      },
      ...onRead(store, (file, path) => file && { ...file, text: texts(world).get(path) ?? file.text }),
    }),
  ),
  fileMutant("acknowledges a write over a version that is deleted", ["F10"], (store) =>
    insteadOfRefusal(store, "conflict", ({ currentVersion }) =>
      currentVersion === undefined ? { etag: "0" } : undefined,
    ),
  ),
  fileMutant("calls the etag of a deleted file the current one", ["F10"], (store) =>
    insteadOfRefusal(store, "conflict", ({ currentVersion, message }, _, options) => {
      if (currentVersion === undefined) {
        throw new AgentFrameworkError("conflict", message, { currentVersion: options?.ifMatch });
      }
      return undefined;
    }),
  ),
  fileMutant("makes a deleted file anew before it looks at the etag", ["F10"], (store) =>
    onRefusedWrite(store, ["conflict"], async (path, text, options) => {
      await ((await store.exists(path, scopeOf(options))) || store.write(path, text, scopeOf(options)));
    }),
  ),
  fileMutant(
    "says that its server is busy when there is a file",
    ["F11"],
    (store) =>
      insteadOfRefusal(store, "conflict", ({ currentVersion }, _, options) =>
        options?.ifNoneMatch === undefined ? undefined : busy(currentVersion),
      ),
    { rejects: "the server is busy" },
  ),
  fileMutant("renews the etag when it refuses to write over a file", ["F11"], (store) =>
    onRefusedWrite(store, ["conflict"], async (path, _, options) => {
      const file = await store.read(path, scopeOf(options));
      await (file && options?.ifNoneMatch === "*" && store.write(path, file.text, scopeOf(options)));
    }),
  ),
  fileMutant(
    "says that its server is busy to all who come second",
    ["F12", "F13"],
    (store) => insteadOfRefusal(store, "conflict", ({ currentVersion }) => busy(currentVersion)),
    { rejects: "the server is busy" },
  ),
  fileMutant("says to all who come second that they won", ["F12", "F13", "F35"], (store) =>
    insteadOfRefusal(store, "conflict", ({ currentVersion }) => ({ etag: currentVersion ?? "0" })),
  ),
  fileMutant("gives with a conditional write another etag than it keeps", ["F12", "F13"], (store) => ({
    write: async (path, text, options) => {
      const { etag } = await store.write(path, text, options);
      return { etag: options?.ifMatch === undefined && options?.ifNoneMatch === undefined ? etag : `W/${etag}` };
    },
  })),
];

/** Defects of stores beside others that only one look at them shows. */
const processDefects: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("remembers that a file was missing, until it writes one itself", ["F15"], (store) => {
    const missing = new Set<string>();
    return {
      ...onWritten(store, () => missing.clear()),
      ...onExists(store, (isThere, path) => {
        const isKnown = missing.has(path);
        missing.add(isThere ? "" : path);
        return isThere && !isKnown;
      }),
    };
  }),
  fileMutant("counts etags for each process", ["F15"], (store, world) => {
    const own = stores(world).count;
    stores(world).count += 1;
    return onRead(store, (file) => file && { ...file, etag: own === 0 ? file.etag : `${own}:${file.etag}` });
  }),
  fileMutant("reads the text that it wrote itself as long as there is a file", ["F15"], (store) => {
    const own = new Map<string, string>();
    return {
      ...onWritten(store, (path, text) => own.set(path, text)),
      ...onRead(store, (file, path) => file && { ...file, text: own.get(path) ?? file.text }),
    };
  }),
  fileMutant("reads what it wrote itself when there is no file", ["F15"], (store) => {
    const own = new Map<string, { text: string; etag: string }>();
    return {
      ...onWritten(store, (path, text, etag) => own.set(path, { text, etag })),
      ...onRead(store, (file, path) => file ?? own.get(path)),
    };
  }),
  fileMutant("lists what it wrote itself", ["F15"], (store) => {
    const own = new Set<string>();
    return { ...onWritten(store, (path) => own.add(path)), ...onList(store, (paths) => [...paths, ...own]) };
  }),
];

/** Defects of names that clash which only one look at them shows. */
const clashDefects: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("acknowledges a write under another spelling of a file's name", ["F16"], (store) =>
    insteadOfRefusal(store, "conflict", async (_, path) =>
      (await twinOf(store, path)) === undefined ? undefined : { etag: "0" },
    ),
  ),
  fileMutant("writes into the file of the other spelling, and refuses", ["F16"], (store) =>
    onRefusedWrite(store, ["conflict"], async (path, text) => {
      const twin = await twinOf(store, path);
      await (twin === undefined ? undefined : store.write(twin, text));
    }),
  ),
  fileMutant("reads a file under any spelling of its name", ["F16"], (store) =>
    onRead(store, async (file, path) => {
      const twin = await twinOf(store, path);
      return file ?? (twin === undefined ? undefined : store.read(twin));
    }),
  ),
  fileMutant("lists a directory under any spelling of its name", ["F16"], (store) =>
    onList(store, async (paths, directory) => (paths.length > 0 ? paths : belowTwin(store, directory))),
  ),
  fileMutant("searches a directory under any spelling of its name", ["F16"], (store) => ({
    search: async (pattern, options) => {
      const found = await store.search(pattern, options);
      const others = await belowTwin(store, options?.directory ?? "");
      return found.length > 0 ? found : others.map((path) => ({ path, line: 1, text: "first" }));
    },
  })),
  fileMutant("lists the entries of a directory under any spelling of its name", ["F16"], (store) => ({
    listEntries: async (directory, options) => {
      const entries = (await store.listEntries?.(directory, options)) ?? [];
      const others = await belowTwin(store, directory);
      return entries.length > 0 ? entries : others.map((path) => ({ path, etag: "1" }));
    },
  })),
  fileMutant("says that it deleted the other spelling of a name", ["F16"], (store) =>
    onDelete(store, async (isDone, path) => isDone || (await twinOf(store, path)) !== undefined),
  ),
  fileMutant("deletes the file of the other spelling, and says that it did not", ["F16"], (store) =>
    onDelete(store, async (isDone, path) => {
      const twin = await twinOf(store, path);
      await (twin === undefined ? undefined : store.delete(twin));
      return isDone;
    }),
  ),
  fileMutant("keeps in its cache what it refused below a look-alike directory", ["F16"], (store, world) => ({
    ...onRefusedWrite(store, ["conflict"], async (path, text) => {
      await ((await twinOf(store, path)) === undefined && cached(world).set(path, text));
    }),
    ...onRead(store, (file, path) => {
      const text = cached(world).get(path);
      return file ?? (text === undefined ? undefined : { text, etag: "0" });
    }),
  })),
  fileMutant("acknowledges a write right below a file", ["F17"], (store) =>
    insteadOfRefusal(store, "conflict", async (_, path) =>
      (await store.exists(foldersOf(path)[0] ?? "-")) ? { etag: "0" } : undefined,
    ),
  ),
  fileMutant("acknowledges a write far below a file", ["F17"], (store) =>
    insteadOfRefusal(store, "conflict", async (_, path) =>
      (await store.exists(foldersOf(path)[1] ?? "-")) ? { etag: "0" } : undefined,
    ),
  ),
  fileMutant("acknowledges a write over a directory", ["F17"], (store) =>
    insteadOfRefusal(store, "conflict", async (_, path) =>
      (await store.list(path)).length > 0 ? { etag: "0" } : undefined,
    ),
  ),
  fileMutant("empties the file that something is to be written below", ["F17"], (store) =>
    onRefusedWrite(store, ["conflict"], async (path) => {
      for (const folder of foldersOf(path)) {
        await ((await store.exists(folder)) && store.write(folder, ""));
      }
    }),
  ),
];

/** Every defect of conditions that only one look shows. */
export const conditionDetailMutants: readonly Mutant<OpenedFileStore>[] = [
  ...conditionDefects,
  ...processDefects,
  ...clashDefects,
];

/** The files below the directory whose name differs from this one in its spelling alone. */
async function belowTwin(store: Parameters<typeof onRead>[0], directory: string): Promise<string[]> {
  const folded = (name: string) => name.normalize("NFC").toLowerCase();
  return (await store.list("")).filter((path) => folded(path).startsWith(`${folded(directory)}/`));
}

/** The stored name that differs from this one in its spelling alone. */
async function twinOf(store: Parameters<typeof onRead>[0], path: string): Promise<string | undefined> {
  const folded = (name: string) => name.normalize("NFC").toLowerCase();
  return (await store.list("")).find((other) => other !== path && folded(other) === folded(path));
}
