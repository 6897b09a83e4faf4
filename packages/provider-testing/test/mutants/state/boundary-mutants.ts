import { AgentFrameworkError, type StateItem } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type Mutant, stateMutant } from "../../support/mutant.ts";
import { turn } from "../../support/world.ts";
import { isCode } from "./helpers.ts";

/** Defects around outages, several callers and several stores. */
export const boundaryMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("keeps the key of the current call on the instance", ["S35"], (store) => {
    let current = "";
    return {
      set: async (key, text, options) => {
        current = key;
        await turn();
        return store.set(current, text, options);
      },
    };
  }),
  stateMutant("keeps items in a cache that only its own writes empty", ["S36"], (store) => {
    const cache = new Map<string, Promise<StateItem | undefined>>();
    return {
      get: (key, options) => {
        const item = cache.get(key) ?? store.get(key, options);
        cache.set(key, item);
        return item;
      },
      set: (key, text, options) => {
        cache.clear();
        return store.set(key, text, options);
      },
    };
  }),
  stateMutant("reads an outage as absent", ["S37", "S38"], (store) => ({
    get: (key, options) =>
      store.get(key, options).catch((error: unknown) => {
        if (isCode(error, "unavailable")) {
          return undefined;
        }
        throw error;
      }),
  })),
  stateMutant("says during an outage that nothing was deleted", ["S37"], (store) => ({
    delete: (key, options) => store.delete(key, options).catch(() => false),
  })),
  stateMutant(
    "remembers that it could not connect",
    ["S38"],
    (store) => {
      let failed = false;
      return {
        get: async (key, options) => {
          try {
            return await store.get(key, options);
          } catch (error) {
            failed ||= isCode(error, "unavailable");
            throw error;
          }
        },
        set: async (key, text, options) => {
          if (failed) {
            throw new AgentFrameworkError("unavailable", "not connected");
          }
          return store.set(key, text, options);
        },
      };
    },
    { spares: ["S37"], rejects: "not connected" },
  ),
  stateMutant(
    "reads a timeout as absent",
    ["S39"],
    (store) => ({
      get: (key, options) =>
        store.get(key, options).catch((error: unknown) => {
          if (isCode(error, "timeout")) {
            return undefined;
          }
          throw error;
        }),
    }),
    { spares: ["S37"] },
  ),
  stateMutant("does not look at the signal", ["S40"], (store) => ({
    set: (key, text, options) => store.set(key, text, { ...options, signal: undefined }),
  })),
  stateMutant("closes a client that was passed in", ["S41"], (_, world) => ({
    close: async () => {
      world.isClientOpen = false;
    },
  })),
  stateMutant("puts the whole call into its error messages", ["S42"], (store) => ({
    create: (key, text, options) =>
      store.create(key, text, options).catch((error: unknown) => {
        throw error instanceof AgentFrameworkError
          ? new AgentFrameworkError(error.code, `${key}: ${text}`, error)
          : error;
      }),
  })),
  stateMutant("takes options that are none for no options", ["S43"], (store) => ({
    listKeys: (options) => store.listKeys(typeof options === "object" ? options : {}),
  })),
];
