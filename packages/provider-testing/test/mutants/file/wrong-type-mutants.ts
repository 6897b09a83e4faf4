import { AgentFrameworkError } from "@agentfw/core";
import type { OpenedFileStore } from "../../../src/index.ts";
import { fileMutant, lenient, type Mutant } from "../../support/mutant.ts";
import { isCode } from "./helpers.ts";

/** Stores that take an option of the wrong type for none, and names that are taken for others. */
export const wrongTypeMutants: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("takes an etag that is no text for none", ["F36"], (store) => ({
    write: (path, text, options) => store.write(path, text, lenient(options, "ifMatch", "string")),
  })),
  fileMutant("takes an ifNoneMatch that is no text for none", ["F36"], (store) => ({
    write: (path, text, options) => store.write(path, text, lenient(options, "ifNoneMatch", "string")),
  })),
  fileMutant("writes over a file that another etag was excluded for", ["F36"], (store) => ({
    write: (path, text, options) => {
      const isEtag = typeof options?.ifNoneMatch === "string" && options.ifNoneMatch !== "*";
      return store.write(path, text, isEtag ? { ...options, ifNoneMatch: undefined } : options);
    },
  })),
  fileMutant("takes an owner that is no text for nobody", ["F36"], (store) => ({
    read: (path, options) => store.read(path, lenient(options, "owner", "string")),
  })),
  fileMutant("takes a limit of a search that is no number for the default", ["F36"], (store) => ({
    search: (pattern, options) => store.search(pattern, lenient(options, "limit", "number")),
  })),
  fileMutant("takes a time limit of a search that is no number for the default", ["F36"], (store) => ({
    search: (pattern, options) => store.search(pattern, lenient(options, "timeoutMs", "number")),
  })),
  fileMutant("searches everywhere for a directory that is no text", ["F36"], (store) => ({
    search: (pattern, options) => store.search(pattern, lenient(options, "directory", "string")),
  })),
  fileMutant("keeps directories apart that differ only in case", ["F16"], (store) => ({
    write: (path, text, options) =>
      store.write(path, text, options).catch((error: unknown) => {
        if (isCode(error, "conflict") && path === "folder/y.md") {
          return { etag: "beside" };
        }
        throw error;
      }),
  })),
  fileMutant(
    "says that a name which is a directory is no name at all",
    ["F17"],
    (store) => ({
      write: (path, text, options) =>
        store.write(path, text, options).catch((error: unknown) => {
          throw isCode(error, "conflict") && options?.ifMatch === undefined && options?.ifNoneMatch === undefined
            ? new AgentFrameworkError("configuration", "path: must be a file")
            : error;
        }),
    }),
    { spares: ["F10", "F11"], rejects: "configuration (path: must be a file)" },
  ),
];
