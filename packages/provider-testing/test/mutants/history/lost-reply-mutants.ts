import { AgentFrameworkError, isAgentFrameworkError } from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant } from "../../support/mutant.ts";
import { MARK } from "./helpers.ts";

/** Defects that show when a request or a reply is lost. */
export const lostReplyMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant(
    "says that nothing was written when only the reply was lost",
    ["H89", "H90"],
    (store) => ({
      append: (key, records, options) => store.append(key, records, options).catch(asCode("unavailable")),
    }),
    { rejects: "unavailable (not done)" },
  ),
  historyMutant("sends again what may have arrived, under new ids", ["H89"], (store) => ({
    append: (key, records, options) =>
      store.append(key, records, options).catch((error: unknown) => {
        if (!isAgentFrameworkError(error, "outcome_unknown")) {
          throw error;
        }
        return store.append(
          key,
          records.map(({ id, data }) => ({ id: `${id}-again`, data })),
        );
      }),
  })),
  historyMutant(
    "takes its own append for somebody else's",
    ["H90"],
    (store) => ({
      append: (key, records, options) =>
        store.append(key, records, options).catch(options?.ifVersion === undefined ? rethrow : asCode("conflict")),
    }),
    { spares: ["H89"], rejects: "conflict (not done)" },
  ),
  historyMutant(
    "says that it added nothing when it finds what it has added itself",
    ["H94"],
    (store) => ({
      append: (key, records, options) =>
        store.append(key, records, options).catch((error: unknown) => {
          if (!isAgentFrameworkError(error, "outcome_unknown")) {
            throw error;
          }
          return store.append(key, records, options);
        }),
    }),
    { spares: ["H89", "H90"] },
  ),
  historyMutant(
    "carries a replace out again when its reply was lost",
    ["H91"],
    (store) => ({
      replace: (key, range, records, options) =>
        store.replace(key, range, records, options).catch((error: unknown) => {
          if (!isAgentFrameworkError(error, "outcome_unknown")) {
            throw error;
          }
          return store.replace(key, range, records, options);
        }),
    }),
    { rejects: "the record is no longer stored" },
  ),
  historyMutant("acknowledges an append when its connection ends", ["H92"], (store) => ({
    append: (key, records, options) =>
      store.append(key, records, options).catch((error: unknown) => {
        if (!isAgentFrameworkError(error, "unavailable")) {
          throw error;
        }
        return { version: "unknown", appended: records.length };
      }),
  })),
  historyMutant("stores whatever arrives, ids or not", ["H93"], (store, world) => ({
    append: (key, records, options) =>
      world.call("write", options, () =>
        world.inner.append(
          key,
          records.map(({ id, data }) => ({ id: `${id}${MARK}${crypto.randomUUID()}`, data })),
        ),
      ),
    read: async (key, options) => {
      const page = await store.read(key, options);
      return { ...page, records: page.records.map(({ id, data }) => ({ id: id.split(MARK)[0] ?? "", data })) };
    },
  })),
];

function rethrow(error: unknown): never {
  throw error;
}

function asCode(code: "unavailable" | "conflict"): (error: unknown) => never {
  return (error) => {
    throw isAgentFrameworkError(error, "outcome_unknown") ? new AgentFrameworkError(code, "not done") : error;
  };
}
