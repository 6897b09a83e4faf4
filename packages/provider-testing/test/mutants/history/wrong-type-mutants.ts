import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, lenient, type Mutant } from "../../support/mutant.ts";

/** Stores that take an option of the wrong type for none. */
export const wrongTypeMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("takes a condition of an append that is no text for none", ["H88"], (store) => ({
    append: (key, records, options) => store.append(key, records, lenient(options, "ifVersion", "string")),
  })),
  historyMutant("takes a condition of a replace that is no text for none", ["H88"], (store) => ({
    replace: (key, range, records, options) =>
      store.replace(key, range, records, lenient(options, "ifVersion", "string")),
  })),
  historyMutant("begins a list again at a cursor that is no text", ["H88"], (store) => ({
    list: (filter, options) => store.list(filter, lenient(options, "cursor", "string")),
  })),
  historyMutant("takes a limit of a list that is no number for the default", ["H88"], (store) => ({
    list: (filter, options) => store.list(filter, lenient(options, "limit", "number")),
  })),
  historyMutant("lists all sources for a source that is no text", ["H88"], (store) => ({
    list: (filter, options) => store.list(lenient(filter, "source", "string"), options),
  })),
];
