import { AgentFrameworkError, type FileEntry, type FileStore } from "@agentfw/core";
import type { OpenedFileStore } from "../../../src/index.ts";
import { fileMutant, type Mutant } from "../../support/mutant.ts";
import { scopeOf, unlessCode } from "./detail-helpers.ts";
import { isCode } from "./helpers.ts";

/** Defects around outages, signals, options and entries that only one look at them shows. */
export const boundaryDetailMutants: readonly Mutant<OpenedFileStore>[] = [
  fileMutant(
    "takes an outage for a fault of the caller",
    ["F30"],
    (store) => ({
      list: (directory, options) =>
        store.list(directory, options).catch((error: unknown) => {
          throw isCode(error, "unavailable") ? new CallersFault("unsupported", "no such server") : error;
        }),
    }),
    { rejects: "no such server" },
  ),
  fileMutant(
    "says that after an outage nothing can be tried again",
    ["F30"],
    (store) => ({
      list: (directory, options) =>
        store.list(directory, options).catch((error: unknown) => {
          throw isCode(error, "unavailable") ? new FinalError("unavailable", "the server is gone") : error;
        }),
    }),
    { rejects: "the server is gone" },
  ),
  fileMutant("begins with nothing when it connects again", ["F31"], (store, world) => {
    let hasFailed = false;
    return {
      read: (path, options) =>
        unlessCode(store.read(path, options), "unavailable", () => {
          hasFailed = true;
          return store.read(path, options);
        }),
      write: async (path, text, options) => {
        const paths = hasFailed ? await world.inner.list("") : [];
        await Promise.all(paths.map((one) => world.inner.delete(one)));
        return store.write(path, text, options);
      },
    };
  }),
  fileMutant("acknowledges what it does not write after a second outage", ["F31"], (store) => {
    let outages = 0;
    return {
      read: (path, options) =>
        unlessCode(store.read(path, options), "unavailable", () => {
          outages += 1;
          return store.read(path, options);
        }),
      write: async (path, text, options) => (outages > 1 ? { etag: "0" } : store.write(path, text, options)),
    };
  }),
  fileMutant("acknowledges what it does not write after a timeout", ["F32"], (store) => {
    let wasLate = false;
    return {
      write: async (path, text, options) => {
        if (wasLate) {
          return { etag: "0" };
        }
        return store.write(path, text, options).catch((error: unknown) => {
          wasLate = isCode(error, "timeout", "outcome_unknown");
          throw error;
        });
      },
    };
  }),
  fileMutant("reads without a look at the signal", ["F33"], (store) => ({
    read: (path, options) => store.read(path, scopeOf(options)),
  })),
  fileMutant("renews the etag before it looks at the signal", ["F33"], (store) => ({
    write: async (path, text, options) => {
      const file = await store.read(path, scopeOf(options));
      await (file && options?.signal && store.write(path, file.text, scopeOf(options)));
      return store.write(path, text, options);
    },
  })),
  fileMutant("makes a new file before it looks at the options", ["F33", "F36"], (store) => ({
    write: async (path, text, options) => {
      if (!(await store.exists(path))) {
        await store.write(path, text);
      }
      return store.write(path, text, options);
    },
  })),
  fileMutant("acknowledges what it does not write", ["F02", "F34"], () => ({ write: async () => ({ etag: "0" }) })),
  fileMutant("acknowledges a write under a condition that is no text", ["F36"], (store) => ({
    write: (path, text, options) =>
      typeof options?.ifMatch === "string" || options?.ifMatch === undefined
        ? store.write(path, text, options)
        : unlessCode(store.write(path, text, options), "configuration", () => ({ etag: "0" })),
  })),
  fileMutant("lists of a directory only the entries right below it", ["F37"], (store) => ({
    listEntries: async (directory, options) =>
      (await entriesOf(store, directory, options)).filter(
        ({ path }) => directory === "" || !path.slice(directory.length + 1).includes("/"),
      ),
  })),
  fileMutant("lists no entries for a directory that leads out", ["F18"], (store) => ({
    listEntries: (directory, options) => unlessCode(entriesOf(store, directory, options), "configuration", () => []),
  })),
  fileMutant("lists the entries of unowned files for every owner", ["F37"], (store) => ({
    listEntries: (directory, options) => entriesOf(store, directory, { signal: options?.signal }),
  })),
];

class FinalError extends AgentFrameworkError {
  override get retryable(): boolean {
    return false;
  }
}

class CallersFault extends AgentFrameworkError {
  override get retryable(): boolean {
    return true;
  }
}

async function entriesOf(store: FileStore, ...given: Parameters<FileStore["list"]>): Promise<FileEntry[]> {
  return (await store.listEntries?.(...given)) ?? [];
}
