import { AgentFrameworkError } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type Mutant, stateMutant } from "../../support/mutant.ts";
import { isCode } from "./helpers.ts";

/** Defects that show when a request or a reply is lost. */
export const lostReplyMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant(
    "creates again when a reply was lost, and finds its own item",
    ["S44"],
    (store) => ({
      create: (key, text, options) =>
        store.create(key, text, options).catch((error: unknown) => {
          if (!isCode(error, "outcome_unknown")) {
            throw error;
          }
          return store.create(key, text, options);
        }),
    }),
    { rejects: "the key is taken" },
  ),
  stateMutant(
    "takes its own set for somebody else's when a reply was lost",
    ["S45"],
    (store) => ({
      set: (key, text, options) =>
        store.set(key, text, options).catch((error: unknown) => {
          throw isCode(error, "outcome_unknown")
            ? new AgentFrameworkError("conflict", "someone else was first")
            : error;
        }),
    }),
    { rejects: "someone else was first" },
  ),
  stateMutant("deletes again when a reply was lost, and finds nothing", ["S46"], (store) => ({
    delete: (key, options) =>
      store.delete(key, options).catch((error: unknown) => {
        if (!isCode(error, "outcome_unknown")) {
          throw error;
        }
        return store.delete(key, options);
      }),
  })),
  stateMutant("acknowledges a set when its connection ends", ["S47"], (store) => ({
    set: (key, text, options) =>
      store.set(key, text, options).catch((error: unknown) => {
        if (!isCode(error, "unavailable")) {
          throw error;
        }
        return { etag: "unknown" };
      }),
  })),
];
