import { posix } from "node:path";
import { AgentFrameworkError, type FileMatch } from "@agentfw/core";
import type { OpenedFileStore } from "../../../src/index.ts";
import { fileMutant, type Mutant } from "../../support/mutant.ts";
import { block, isCode, withPaths } from "./helpers.ts";

/** Long enough that no busy machine is an excuse. */
const BLOCK_MS = 1_100;

/** Defects of paths and owners. */
const pathDefects: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("normalizes paths instead of refusing them", ["F18"], (store) =>
    withPaths(store, (path) => posix.normalize(path).replace(/^(\.\.\/|\/)+/, "")),
  ),
  fileMutant("takes backslashes for slashes", ["F18"], (store) =>
    withPaths(store, (path) =>
      path
        .replace(/^[a-z]:/i, "")
        .replaceAll("\\", "/")
        .replace(/^\/+/, ""),
    ),
  ),
  fileMutant("cuts names at NUL", ["F18"], (store) => withPaths(store, (path) => path.split("\u0000")[0] ?? "")),
  fileMutant("takes reserved device names with an ending", ["F18"], (store) =>
    withPaths(store, (path) => path.replace(/^(nul|con|prn|aux|com\d|lpt\d)(?=\.)/i, "_$1")),
  ),
  fileMutant("trims blanks and dots at the end of names", ["F18"], (store) =>
    withPaths(store, (path) => path.replace(/[. ]+$/, "")),
  ),
  fileMutant("decodes a path after it was checked", ["F19"], (store) =>
    withPaths(store, (path) => (/%2e|%2f/i.test(path) ? "o" : path)),
  ),
  fileMutant("reads through links", ["F20"], (store, world) => ({
    read: async (path, options) => {
      const isLink = [...world.links.keys()].some((link) => `${path}/`.startsWith(`${link}/`));
      return isLink ? { text: world.outside, etag: "1" } : store.read(path, options);
    },
  })),
  fileMutant("writes through links", ["F20"], (store, world) => ({
    write: async (path, text, options) => {
      if (world.links.has(path)) {
        world.outside = text;
        return { etag: "1" };
      }
      return store.write(path, text, options);
    },
  })),
  fileMutant("lists what links lead to", ["F20"], (store, world) => ({
    list: async (directory, options) => {
      const links = [...world.links].filter(([, kind]) => kind === "directory").map(([link]) => `${link}/o.md`);
      return [...(await store.list(directory, options)), ...(directory === "" ? links : [])].sort();
    },
  })),
  fileMutant("searches the files of every owner", ["F21"], (store) => ({
    search: (pattern, options) =>
      store.search(pattern, { ...options, owner: options?.owner === "bob" ? "alice" : options?.owner }),
  })),
  fileMutant("uses the owner as a folder", ["F21"], (store) => {
    const folder = (owner: string | null | undefined) =>
      typeof owner === "string" ? posix.normalize(`owners/x/${owner}`).replace(/\/$/, "") : null;
    return {
      read: (path, options) => store.read(path, { ...options, owner: folder(options?.owner) }),
      write: (path, text, options) => store.write(path, text, { ...options, owner: folder(options?.owner) }),
      list: (path, options) => store.list(path, { ...options, owner: folder(options?.owner) }),
    };
  }),
  fileMutant("keeps files without an owner apart from those of owner null", ["F22"], (store) => ({
    read: (path, options) => store.read(path, { ...options, owner: options?.owner === null ? "null" : options?.owner }),
  })),
];

/** Defects of search. */
const searchDefects: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("counts lines from 0", ["F23"], (store) => ({
    search: async (pattern, options) =>
      (await store.search(pattern, options)).map((match) => ({ ...match, line: match.line - 1 })),
  })),
  fileMutant("looks for the pattern as it stands", ["F23"], (store) => ({
    search: (pattern, options) =>
      store.search(typeof pattern === "string" ? pattern.replace(/[\\^$.+()|{}*?[\]]/g, "\\$&") : pattern, options),
  })),
  fileMutant("gives the match instead of the line", ["F23"], (store) => ({
    search: async (pattern, options) =>
      (await store.search(pattern, options)).map((match) => ({
        ...match,
        text: new RegExp(pattern, "iu").exec(match.text)?.[0] ?? "",
      })),
  })),
  fileMutant("does not keep to its limit", ["F24"], (store) => ({
    search: (pattern, options) =>
      store.search(pattern, { ...options, limit: options?.limit === undefined ? 10_000 : options.limit }),
  })),
  fileMutant("searches everywhere when a directory is named", ["F24"], (store) => ({
    search: async (pattern, options) => {
      await store.search(pattern, options);
      return store.search(pattern, { ...options, directory: undefined });
    },
  })),
  fileMutant("takes a malformed pattern for a text", ["F25"], (store) => ({
    search: (pattern, options) => store.search(pattern, options).catch((error: unknown) => ifBadPattern(error)),
  })),
  fileMutant("looks at the pattern only when there is a file", ["F25"], (store) => ({
    search: async (pattern, options) => {
      const files = await store.list("", { owner: options?.owner, signal: options?.signal });
      return files.length === 0 ? [] : store.search(pattern, options);
    },
  })),
  fileMutant("leaves out what its engine cannot do", ["F26"], (store) => ({
    search: (pattern, options) =>
      store.search(
        typeof pattern === "string" ? pattern.replace(/\(\?<?[=!]/g, "(?:").replace(/\\1/g, "") : pattern,
        options,
      ),
  })),
  fileMutant(
    "runs patterns with nested repetition on a backtracking engine",
    ["F27"],
    (store) => ({
      search: (pattern, options) => {
        if (/[+*|][^)]*\)[+*]/.test(pattern)) {
          block(BLOCK_MS);
        }
        return store.search(pattern, options);
      },
    }),
    { spares: ["F28"] },
  ),
  fileMutant(
    "looks for nested repetition and runs the rest on a backtracking engine",
    ["F28"],
    (store) => ({
      search: async (pattern, options) => {
        if (/[+*|][^)]*\)[+*]/.test(pattern)) {
          throw new AgentFrameworkError("configuration", "pattern: must not repeat what repeats");
        }
        if (pattern.split("*").length > 5) {
          block(BLOCK_MS);
        }
        return store.search(pattern, options);
      },
    }),
    { spares: ["F27"] },
  ),
  fileMutant(
    "looks at the clock between files, not within them",
    ["F29"],
    (store, world) => ({
      search: async (pattern, options) => {
        const file = await world.inner.read("long-line.md");
        block((file?.text.length ?? 0) / 600);
        return store.search(pattern, options);
      },
    }),
    { spares: ["F27"] },
  ),
];

/** Every defect of paths, owners and searches. */
export const pathAndSearchMutants: readonly Mutant<OpenedFileStore>[] = [...pathDefects, ...searchDefects];

function ifBadPattern(error: unknown): FileMatch[] {
  if (isCode(error, "configuration")) {
    return [];
  }
  throw error;
}
