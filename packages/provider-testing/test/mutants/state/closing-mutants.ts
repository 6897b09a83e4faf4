import { AgentFrameworkError } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { closing } from "../../support/closable.ts";
import { type Mutant, stateMutant } from "../../support/mutant.ts";

/** Defects behind `close`. */
export const closingMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("opens again what it closed", ["S49"], () => ({ close: async () => {} })),
  stateMutant(
    "calls itself unavailable once it is closed",
    ["S49"],
    (store) =>
      closing(store, (isClosed) => ({
        get: async (key, options) => {
          if (isClosed()) {
            throw new AgentFrameworkError("unavailable", "not connected");
          }
          return store.get(key, options);
        },
      })),
    { rejects: "not connected" },
  ),
  stateMutant("reads nothing once it is closed", ["S49"], (store) =>
    closing(store, (isClosed) => ({
      get: async (key, options) => (isClosed() ? undefined : store.get(key, options)),
    })),
  ),
  stateMutant("sets behind close before it refuses to", ["S49"], (store, world) =>
    closing(store, (isClosed) => ({
      set: async (key, text, options) => {
        if (isClosed()) {
          await world.inner.set(key, text);
        }
        return store.set(key, text, options);
      },
    })),
  ),
  stateMutant("creates an item behind close before it refuses to", ["S49"], (store, world) =>
    closing(store, (isClosed) => ({
      create: async (key, text, options) => {
        if (isClosed()) {
          await world.inner.create(key, text);
        }
        return store.create(key, text, options);
      },
    })),
  ),
  stateMutant(
    "cannot be closed twice",
    ["S49"],
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
