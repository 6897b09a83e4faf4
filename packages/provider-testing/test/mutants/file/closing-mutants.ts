import { AgentFrameworkError } from "@agentfw/core";
import type { OpenedFileStore } from "../../../src/index.ts";
import { closing } from "../../support/closable.ts";
import { fileMutant, type Mutant } from "../../support/mutant.ts";

/** Defects behind `close`. */
export const closingMutants: readonly Mutant<OpenedFileStore>[] = [
  fileMutant("opens again what it closed", ["F40"], () => ({ close: async () => {} })),
  fileMutant(
    "calls itself unavailable once it is closed",
    ["F40"],
    (store) =>
      closing(store, (isClosed) => ({
        read: async (path, options) => {
          if (isClosed()) {
            throw new AgentFrameworkError("unavailable", "not connected");
          }
          return store.read(path, options);
        },
      })),
    { rejects: "not connected" },
  ),
  fileMutant("finds no file once it is closed", ["F40"], (store) =>
    closing(store, (isClosed) => ({
      read: async (path, options) => (isClosed() ? undefined : store.read(path, options)),
    })),
  ),
  fileMutant("writes behind close before it refuses to", ["F40"], (store, world) =>
    closing(store, (isClosed) => ({
      write: async (path, text, options) => {
        if (isClosed()) {
          await world.inner.write(path, text);
        }
        return store.write(path, text, options);
      },
    })),
  ),
  fileMutant("writes a new file behind close before it refuses to", ["F40"], (store, world) =>
    closing(store, (isClosed) => ({
      write: async (path, text, options) => {
        if (isClosed() && path !== "a.md") {
          await world.inner.write(path, text);
        }
        return store.write(path, text, options);
      },
    })),
  ),
  fileMutant(
    "cannot be closed twice",
    ["F40"],
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
