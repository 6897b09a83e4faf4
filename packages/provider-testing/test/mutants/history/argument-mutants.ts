import type { OpenedHistoryStore } from "../../../src/index.ts";
import { type LateArgument, late, lateName, lateOptions } from "../../support/late.ts";
import { historyMutant, type Mutant } from "../../support/mutant.ts";

const LATE: readonly LateArgument[] = [
  ["append", 0, "key", "after one await"],
  ["append", 1, "records", "after one await"],
  ["append", 1, "records", "after a timer"],
  ["append", 2, "options", "after a timer", "another writer came first"],
  ["read", 0, "key", "after a timer", "the record is no longer stored"],
  ["read", 1, "options", "after one await", "onCorrupt: must be"],
  ["clear", 0, "key", "after one await"],
  ["replace", 0, "key", "after a timer", "another writer came first"],
  ["replace", 1, "range", "after one await"],
  ["replace", 2, "records", "after one await"],
  ["replace", 3, "options", "after a timer", "another writer came first"],
  ["list", 0, "filter", "after a timer"],
  ["list", 1, "options", "after one await"],
];

/** Defects that show when callers change what is theirs. */
export const argumentMutants: readonly Mutant<OpenedHistoryStore>[] = [
  ...LATE.map((argument) =>
    historyMutant(lateName(argument), ["H26"], (store) => late(store, argument), lateOptions(argument)),
  ),
  historyMutant("copies the list of an append at once, and its records only when it writes", ["H26"], (store) => ({
    append: async (key, records, options) => {
      const [own, conditions, list] = [{ ...key }, { ...options }, Array.isArray(records) ? [...records] : records];
      await Promise.resolve();
      return store.append(own, list, conditions);
    },
  })),
];
