import type { FileEntry, FileMatch } from "@agentfw/core";
import type { OpenedFileStore } from "../../../src/index.ts";
import { type LateArgument, late, lateName, lateOptions } from "../../support/late.ts";
import { fileMutant, type Mutant, perWorld } from "../../support/mutant.ts";

const LATE: readonly LateArgument[] = [
  ["read", 1, "options", "after one await"],
  ["write", 2, "options", "after a timer", "the etag does not match"],
  ["delete", 1, "options", "after one await"],
  ["exists", 1, "options", "after a timer"],
  ["list", 1, "options", "after one await"],
  ["listEntries", 1, "options", "after one await"],
  ["search", 1, "options", "after a timer"],
];

const cachedFiles = perWorld(() => new Map<string, { text: string; etag: string }>());
const cachedMatches = perWorld(() => new Map<string, FileMatch[]>());
const cachedEntries = perWorld(() => new Map<string, FileEntry>());
const cachedPaths = perWorld(() => new Map<string, string[]>());

/** Defects that show when callers change what is theirs. */
export const argumentMutants: readonly Mutant<OpenedFileStore>[] = [
  ...LATE.map((argument) =>
    fileMutant(lateName(argument), ["F38"], (store) => late(store, argument), lateOptions(argument)),
  ),
  fileMutant("hands out the file that it keeps to everyone", ["F38"], (store, world) => ({
    read: async (path, options) => {
      const file = await store.read(path, options);
      const kept = cachedFiles(world).get(file?.etag ?? "") ?? file;
      cachedFiles(world).set(file?.etag ?? "", { text: "", etag: "", ...kept });
      return file && cachedFiles(world).get(file.etag);
    },
  })),
  fileMutant("hands out the entries that it keeps to everyone", ["F38"], (store, world) => ({
    listEntries: async (directory, options) =>
      ((await store.listEntries?.(directory, options)) ?? []).map((entry) => {
        const kept = cachedEntries(world).get(entry.etag) ?? entry;
        cachedEntries(world).set(entry.etag, kept);
        return kept;
      }),
  })),
  fileMutant("hands out the lines that it found before to everyone", ["F38"], (store, world) => ({
    search: async (pattern, options) => {
      const kept = cachedMatches(world).get(pattern) ?? (await store.search(pattern, options));
      cachedMatches(world).set(pattern, kept);
      return kept;
    },
  })),
  fileMutant("writes a new file for an owner that was passed later", ["F38"], (store) => ({
    write: async (path, text, options) => {
      const given = { ...options };
      await Promise.resolve();
      const isNew = given.ifNoneMatch !== undefined;
      return store.write(path, text, isNew ? { ...given, owner: options?.owner } : given);
    },
  })),
  fileMutant("checks the version of one owner, and writes for one that was passed later", ["F38"], (store) => ({
    write: async (path, text, options) => {
      const { ifMatch, ...given } = { ...options };
      const file = await store.read(path, { owner: given.owner });
      const isSame = ifMatch !== undefined && file?.etag === ifMatch;
      return store.write(path, text, isSame ? { owner: options?.owner } : { ...given, ifMatch });
    },
  })),
  fileMutant("looks at the limit of a search only after one await", ["F38"], (store) => ({
    search: async (pattern, options) => {
      const given = { ...options };
      await Promise.resolve();
      return store.search(pattern, { ...given, limit: options?.limit });
    },
  })),
  fileMutant("looks at the directory of a search only after one await", ["F38"], (store) => ({
    search: async (pattern, options) => {
      const given = { ...options };
      await Promise.resolve();
      return store.search(pattern, { ...given, directory: options?.directory });
    },
  })),
  fileMutant("hands out its cached listing to everyone", ["F38"], (store, world) => ({
    list: async (directory, options) => {
      const paths = cachedPaths(world).get(directory) ?? (await store.list(directory, options));
      cachedPaths(world).set(directory, paths);
      return paths;
    },
  })),
];
