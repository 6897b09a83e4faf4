import type { OpenedFileStore } from "../../../src/index.ts";
import { fileMutant, type Mutant, perWorld } from "../../support/mutant.ts";
import { turn } from "../../support/world.ts";
import {
  onDelete,
  onExists,
  onList,
  onRead,
  onRefusedWrite,
  onWritten,
  scopeOf,
  unlessCode,
} from "./detail-helpers.ts";

const writes = perWorld(() => new Map<string, number>());
const firstTexts = perWorld(() => new Map<string, string>());
const folders = perWorld(() => new Set<string>());
const deleted = perWorld(() => new Set<string>());
const index = perWorld(() => ({ paths: [] as readonly string[] }));

/** Defects of files that only one look at them shows. */
const itemDefects: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("declares no contract", ["F01"], () => JSON.parse('{"contractVersion":0}')),
  fileMutant("reads any name as an empty text until something is written", ["F02", "F15"], (store, world) => ({
    ...onWritten(store, (path) => writes(world).set(path, 1)),
    ...onRead(store, (file, path) =>
      writes(world).size === 0 && !path.includes("/") ? { text: "", etag: "0" } : file,
    ),
  })),
  fileMutant("reads an unknown file in an unknown folder as an empty text", ["F02"], (store) =>
    onRead(store, async (file, path, options) => {
      const folder = path.slice(0, path.lastIndexOf("/") + 1);
      const isKnown = folder === "" || (await store.list(folder.slice(0, -1), options)).length > 0;
      return file ?? (isKnown ? undefined : { text: "", etag: "0" });
    }),
  ),
  fileMutant("lists a placeholder while it holds nothing", ["F02"], (store) =>
    onList(store, (paths, directory) => (paths.length === 0 && directory === "" ? [".keep"] : paths)),
  ),
  fileMutant("gives with a write another etag than it keeps", ["F02", "F09"], (store) => ({
    write: async (path, text, options) => ({ etag: `W/${(await store.write(path, text, options)).etag}` }),
  })),
  fileMutant("says that a file is missing until it is written a second time", ["F02"], (store, world) => ({
    ...onWritten(store, (path) => writes(world).set(path, (writes(world).get(path) ?? 0) + 1)),
    ...onExists(store, (isThere, path) => isThere && (writes(world).get(path) ?? 0) > 1),
  })),
  fileMutant("keeps the first text of a file that is written again", ["F02"], (store, world) => ({
    ...onWritten(store, (path, text) => firstTexts(world).set(path, firstTexts(world).get(path) ?? text)),
    ...onRead(store, (file, path) => file && { ...file, text: firstTexts(world).get(path) ?? file.text }),
  })),
  fileMutant("finds a file without the ending of its name", ["F02"], (store) =>
    onRead(store, async (file, path, options) => file ?? (await store.read(`${path}.md`, options))),
  ),
  fileMutant("lists a file once for each write", ["F02"], (store, world) => ({
    ...onWritten(store, (path) => writes(world).set(path, (writes(world).get(path) ?? 0) + 1)),
    list: async (directory, options) =>
      (await store.list(directory, options)).flatMap((path) =>
        Array.from({ length: writes(world).get(path) ?? 0 }, () => path),
      ),
  })),
  fileMutant("cuts text off where its column ends", ["F03"], (store) =>
    onRead(store, (file) => file && { ...file, text: file.text.slice(0, 65_535) }),
  ),
  fileMutant("leaves the end of a longer text behind a shorter one", ["F03"], (store) => ({
    write: async (path, text, options) => {
      const old = (await store.read(path, scopeOf(options)))?.text ?? "";
      return store.write(path, text.length < old.length ? text + old.slice(text.length) : text, options);
    },
  })),
  fileMutant("says that it wrote what is no text", ["F04"], (store) => ({
    write: (path, text, options) =>
      unlessCode(store.write(path, text, options), "configuration", () => ({ etag: "0" })),
  })),
  fileMutant("makes the file before it looks at the text", ["F04"], (store) => ({
    write: async (path, text, options) => {
      if (!(await store.exists(path, scopeOf(options)))) {
        await store.write(path, "", scopeOf(options));
      }
      return store.write(path, text, options);
    },
  })),
  fileMutant("says that it deleted a file while it holds none", ["F05"], (store) =>
    onDelete(store, async (isDone, _, options) => isDone || (await store.list("", options)).length === 0),
  ),
  fileMutant("says that it deleted a directory", ["F05"], (store) =>
    onDelete(store, async (isDone, path, options) => isDone || (await store.list(path, options)).length > 0),
  ),
  fileMutant("says that it deleted nothing when it did", ["F05"], (store) => onDelete(store, () => false)),
  fileMutant("says that it deleted what was deleted already", ["F05"], (store, world) =>
    onDelete(store, (isDone, path) => {
      const isAgain = deleted(world).has(path);
      deleted(world).add(isDone ? path : "");
      return isDone || isAgain;
    }),
  ),
  fileMutant("takes what is deleted from its lists alone", ["F05"], (store, world) => ({
    ...onWritten(store, (path) => deleted(world).delete(path)),
    delete: async (path, options) => {
      const isThere = (await store.exists(path, options)) && !deleted(world).has(path);
      deleted(world).add(path);
      return isThere;
    },
    ...onList(store, (paths) => paths.filter((path) => !deleted(world).has(path))),
  })),
  fileMutant("deletes with a file all whose names begin alike", ["F05"], (store) =>
    onDelete(store, async (isDone, path, options) => {
      const alike = (await store.list("", options)).filter((one) => isDone && one.startsWith(path));
      await Promise.all(alike.map((one) => store.delete(one, options)));
      return isDone;
    }),
  ),
  fileMutant("acknowledges what it does not write under a name that was deleted", ["F05", "F11"], (store, world) => ({
    ...onDelete(store, (isDone, path) => {
      deleted(world).add(isDone ? path : "");
      return isDone;
    }),
    write: async (path, text, options) => (deleted(world).has(path) ? { etag: "0" } : store.write(path, text, options)),
  })),
];

/** Defects of lists, of odd names and of many calls at once. */
const listDefects: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("lists of the root only what is in folders", ["F06"], (store) =>
    onList(store, (paths, directory) => paths.filter((path) => directory !== "" || path.includes("/"))),
  ),
  fileMutant("lists a directory two levels deep", ["F06"], (store) =>
    onList(store, (paths, directory) =>
      paths.filter((path) => directory === "" || path.slice(directory.length + 1).split("/").length < 3),
    ),
  ),
  fileMutant("lists nothing below a directory that has only directories in it", ["F06"], (store) =>
    onList(store, (paths, directory) =>
      paths.some((path) => !path.slice(directory === "" ? 0 : directory.length + 1).includes("/")) ? paths : [],
    ),
  ),
  fileMutant("lists everything for a directory that never was", ["F06"], (store, world) => ({
    ...onWritten(store, (path) =>
      path
        .split("/")
        .slice(0, -1)
        .map((name) => folders(world).add(name)),
    ),
    ...onList(store, (paths, directory, options) =>
      directory === "" || directory.includes("/") || folders(world).has(directory) ? paths : store.list("", options),
    ),
  })),
  fileMutant("lists the directory above for one that is not there", ["F06"], (store) =>
    onList(store, (paths, directory, options) =>
      paths.length === 0 && directory.includes("/") ? store.list(directory.split("/")[0] ?? "", options) : paths,
    ),
  ),
  fileMutant("lists a placeholder in a directory that it emptied", ["F06"], (store, world) => ({
    ...onWritten(store, (path) =>
      path
        .split("/")
        .slice(0, -1)
        .map((name) => folders(world).add(name)),
    ),
    ...onList(store, (paths, directory) =>
      paths.length === 0 && folders(world).has(directory) ? [`${directory}/.keep`] : paths,
    ),
  })),
  fileMutant("lists the first page of its backend", ["F39"], (store) => onList(store, (paths) => paths.slice(0, 100))),
  fileMutant("lists the entries of the first page of its backend", ["F39"], (store) => ({
    listEntries: async (directory, options) => ((await store.listEntries?.(directory, options)) ?? []).slice(0, 100),
  })),
  fileMutant("searches the first page of its backend", ["F39"], (store) => ({
    search: async (pattern, options) => {
      const paths = new Set((await store.list(options?.directory ?? "", scopeOf(options))).slice(0, 100));
      return (await store.search(pattern, options)).filter(({ path }) => paths.has(path));
    },
  })),
  fileMutant("takes names that begin with a tilde for backups, and does not list them", ["F07"], (store) =>
    onList(store, (paths) => paths.filter((path) => !path.startsWith("~"))),
  ),
  fileMutant("takes a name that begins with a dash for an option when it reads", ["F07"], (store) =>
    onRead(store, (file, path) => (path.startsWith("-") ? undefined : file)),
  ),
  fileMutant("says that it deleted nothing under a name beyond ASCII", ["F07"], (store) =>
    onDelete(store, (isDone, path) => isDone && /^[ -~]*$/.test(path)),
  ),
  fileMutant("says that it deleted a name in brackets, and did not", ["F07"], (store) => ({
    delete: (path, options) => (path.startsWith("[") ? store.exists(path, options) : store.delete(path, options)),
  })),
  fileMutant("reads its list of names, and writes it a moment later", ["F08"], (store, world) => ({
    write: async (path, text, options) => {
      const { paths } = index(world);
      const result = await store.write(path, text, options);
      index(world).paths = [...paths, path];
      return result;
    },
    ...onList(store, (paths) => paths.filter((path) => index(world).paths.includes(path))),
  })),
  fileMutant("keeps the text of the current call on the instance", ["F08"], (store) => {
    let current = "";
    return {
      write: async (path, text, options) => {
        current = text;
        await turn();
        return store.write(path, current, options);
      },
    };
  }),
  fileMutant("keeps the etag of the current call on the instance", ["F08"], (store) => {
    let current = "";
    return {
      write: async (path, text, options) => {
        current = (await store.write(path, text, options)).etag;
        await turn();
        return { etag: current };
      },
    };
  }),
  fileMutant("lists the names that it refused to write", ["F16", "F17"], (store, world) => ({
    ...onRefusedWrite(store, ["conflict"], (path) => folders(world).add(path)),
    ...onList(store, (paths, directory) => (directory === "" ? [...paths, ...folders(world)] : paths)),
  })),
];

/** Every defect of files and lists that only one look shows. */
export const itemDetailMutants: readonly Mutant<OpenedFileStore>[] = [...itemDefects, ...listDefects];
