import { AgentFrameworkError } from "@agentfw/core";
import type { OpenedFileStore } from "../../../src/index.ts";
import { fileMutant, type Mutant } from "../../support/mutant.ts";
import { isCode } from "./helpers.ts";

/** Defects around outages, clients and messages. */
export const boundaryMutants: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("takes every failure to read for no file", ["F30", "F31"], (store) => ({
    read: (path, options) =>
      store.read(path, options).catch((error: unknown) => {
        if (isCode(error, "unavailable")) {
          return undefined;
        }
        throw error;
      }),
  })),
  fileMutant("finds nothing during an outage", ["F30"], (store) => ({
    search: (pattern, options) =>
      store.search(pattern, options).catch((error: unknown) => {
        if (isCode(error, "unavailable")) {
          return [];
        }
        throw error;
      }),
  })),
  fileMutant("lists no entries during an outage", ["F30"], (store) => ({
    listEntries: async (directory, options) =>
      (await store.listEntries?.(directory, options).catch((error: unknown) => {
        if (isCode(error, "unavailable")) {
          return [];
        }
        throw error;
      })) ?? [],
  })),
  fileMutant(
    "remembers that it could not connect",
    ["F31"],
    (store) => {
      let failed = false;
      return {
        read: async (path, options) => {
          try {
            return await store.read(path, options);
          } catch (error) {
            failed ||= isCode(error, "unavailable");
            throw error;
          }
        },
        write: async (path, text, options) => {
          if (failed) {
            throw new AgentFrameworkError("unavailable", "not connected");
          }
          return store.write(path, text, options);
        },
      };
    },
    { spares: ["F30"], rejects: "not connected" },
  ),
  fileMutant(
    "takes a timeout for no file",
    ["F32"],
    (store) => ({
      exists: (path, options) =>
        store.exists(path, options).catch((error: unknown) => {
          if (isCode(error, "timeout")) {
            return false;
          }
          throw error;
        }),
    }),
    { spares: ["F30"] },
  ),
  fileMutant("does not look at the signal", ["F33"], (store) => ({
    write: (path, text, options) => store.write(path, text, { ...options, signal: undefined }),
  })),
  fileMutant("closes a client that was passed in", ["F34"], (_, world) => ({
    close: async () => {
      world.isClientOpen = false;
    },
  })),
  fileMutant("puts the whole call into its error messages", ["F35"], (store) => ({
    write: (path, text, options) =>
      store.write(path, text, options).catch((error: unknown) => {
        throw error instanceof AgentFrameworkError
          ? new AgentFrameworkError(error.code, `${path}: ${text}`, error)
          : error;
      }),
  })),
  fileMutant("takes options that are none for no options", ["F36"], (store) => ({
    search: (pattern, options) => store.search(pattern, typeof options === "object" ? options : {}),
  })),
];
