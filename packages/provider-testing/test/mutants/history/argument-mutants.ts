import type { OpenedHistoryStore } from "../../../src/index.ts";
import { type LateArgument, late, lateName } from "../../support/late.ts";
import { historyMutant, type Mutant } from "../../support/mutant.ts";

const LATE: readonly LateArgument[] = [
  ["append", 0, "key", "after one await"],
  ["append", 1, "records", "after one await"],
  ["append", 1, "records", "after a timer"],
  ["append", 2, "options", "after a timer"],
  ["read", 0, "key", "after a timer"],
  ["read", 1, "options", "after one await"],
  ["clear", 0, "key", "after one await"],
  ["replace", 0, "key", "after a timer"],
  ["replace", 1, "range", "after one await"],
  ["replace", 2, "records", "after one await"],
  ["replace", 3, "options", "after a timer"],
  ["list", 0, "filter", "after a timer"],
  ["list", 1, "options", "after one await"],
];

/** Defects that show when callers change what is theirs. */
export const argumentMutants: readonly Mutant<OpenedHistoryStore>[] = [
  ...LATE.map((argument) => historyMutant(lateName(argument), ["H26"], (store) => late(store, argument))),
  historyMutant("copies the list of an append at once, and its records only when it writes", ["H26"], (store) => ({
    append: async (key, records, options) => {
      const [own, conditions, list] = [{ ...key }, { ...options }, Array.isArray(records) ? [...records] : records];
      await Promise.resolve();
      return store.append(own, list, conditions);
    },
  })),
];
