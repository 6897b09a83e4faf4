import { AgentFrameworkError } from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { closing } from "../../support/closable.ts";
import { historyMutant, type Mutant } from "../../support/mutant.ts";

/** Defects behind `close`. */
export const closingMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("opens again what it closed", ["H95"], () => ({ close: async () => {} })),
  historyMutant(
    "calls itself unavailable once it is closed",
    ["H95"],
    (store) =>
      closing(store, (isClosed) => ({
        read: async (key, options) => {
          if (isClosed()) {
            throw new AgentFrameworkError("unavailable", "not connected");
          }
          return store.read(key, options);
        },
      })),
    { rejects: "not connected" },
  ),
  historyMutant("reads an empty conversation once it is closed", ["H95"], (store) =>
    closing(store, (isClosed) => ({
      read: async (key, options) => (isClosed() ? { records: [], version: "" } : store.read(key, options)),
    })),
  ),
  historyMutant("appends behind close before it refuses to", ["H95"], (store, world) =>
    closing(store, (isClosed) => ({
      append: async (key, records, options) => {
        if (isClosed()) {
          await world.inner.append(key, records);
        }
        return store.append(key, records, options);
      },
    })),
  ),
  historyMutant(
    "cannot be closed twice",
    ["H95"],
    (store) =>
      closing(store, (isClosed) => ({
        close: async () => {
          if (isClosed()) {
            throw new AgentFrameworkError("unavailable", "closed already");
          }
        },
      })),
    { rejects: "closed already" },
  ),
];
