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
const cachedPaths = perWorld(() => new Map<string, string[]>());

/** Defects that show when callers change what is theirs. */
export const argumentMutants: readonly Mutant<OpenedFileStore>[] = [
  ...LATE.map((argument) =>
    fileMutant(lateName(argument), ["F38"], (store) => late(store, argument), lateOptions(argument)),
  ),
  fileMutant("hands out its cached file to everyone", ["F38"], (store, world) => ({
    read: async (path, options) => {
      const file = await store.read(path, options);
      const cached = cachedFiles(world).get(path);
      if (file === undefined || cached !== undefined) {
        return file && cached;
      }
      cachedFiles(world).set(path, { ...file });
      return cachedFiles(world).get(path);
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
