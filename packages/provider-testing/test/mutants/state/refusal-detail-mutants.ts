import { AgentFrameworkError } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type Mutant, perWorld, stateMutant } from "../../support/mutant.ts";
import { busy, unlessCode } from "./helpers.ts";

const written = perWorld(() => ({ isWritten: false }));

/** Stores that say that they did what they refused, or refuse it as something else. */
export const refusalDetailMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("acknowledges text that it does not store", ["S06", "S42"], (store) => ({
    create: (key, text, options) =>
      unlessCode(store.create(key, text, options), "configuration", () => ({ etag: "0" })),
    set: (key, text, options) => unlessCode(store.set(key, text, options), "configuration", () => ({ etag: "0" })),
  })),
  stateMutant("acknowledges a set of text that is too large", ["S07"], (store) => ({
    set: (key, text, options) => unlessCode(store.set(key, text, options), "too_large", () => ({ etag: "0" })),
  })),
  stateMutant("acknowledges a create of text that is too large", ["S07"], (store) => ({
    create: (key, text, options) => unlessCode(store.create(key, text, options), "too_large", () => ({ etag: "0" })),
  })),
  stateMutant("says of an old version that there was nothing to delete", ["S21"], (store) => ({
    delete: (key, options) => unlessCode(store.delete(key, options), "conflict", () => false),
  })),
  stateMutant("says that it deleted nothing for owner null when it did", ["S30"], (store) => ({
    delete: async (key, options) => (await store.delete(key, options)) && options?.owner !== null,
  })),
  stateMutant("reads a placeholder until something is stored", ["S36"], (store, world) => ({
    set: (key, text, options) => {
      written(world).isWritten = true;
      return store.set(key, text, options);
    },
    create: (key, text, options) => {
      written(world).isWritten = true;
      return store.create(key, text, options);
    },
    get: async (key, options) => {
      const item = await store.get(key, options);
      return written(world).isWritten ? item : { key, text: "{}", etag: "0", tags: {} };
    },
  })),
  stateMutant("reads without a look at the signal", ["S40"], (store) => ({
    get: (key, options) => store.get(key, { ...options, signal: undefined }),
  })),
  stateMutant("acknowledges a set under an etag that is no text", ["S43"], (store) => ({
    set: (key, text, options) =>
      typeof options?.ifMatch === "string" || options?.ifMatch === undefined
        ? store.set(key, text, options)
        : unlessCode(store.set(key, text, options), "configuration", () => ({ etag: "0" })),
  })),
  stateMutant(
    "says that nothing was deleted when the reply to a delete was lost",
    ["S46"],
    (store) => ({
      delete: (key, options) => unlessCode(store.delete(key, options), "outcome_unknown", busy),
    }),
    { rejects: "the server is busy" },
  ),
  stateMutant(
    "calls a set whose request was lost a fault of the caller",
    ["S47"],
    (store) => ({
      set: (key, text, options) =>
        unlessCode(store.set(key, text, options), "unavailable", () => {
          throw new AgentFrameworkError("configuration", "no connection");
        }),
    }),
    { rejects: "no connection" },
  ),
];
