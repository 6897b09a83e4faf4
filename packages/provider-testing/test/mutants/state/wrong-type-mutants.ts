import type { OpenedStateStore } from "../../../src/index.ts";
import { lenient, type Mutant, stateMutant } from "../../support/mutant.ts";

/** Stores that take an option of the wrong type, or a cursor that they never gave, for none. */
export const wrongTypeMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("takes a condition of a write that is no text for none", ["S43"], (store) => ({
    set: (key, text, options) => store.set(key, text, lenient(options, "ifMatch", "string")),
  })),
  stateMutant("takes a condition of a delete that is no text for none", ["S43"], (store) => ({
    delete: (key, options) => store.delete(key, lenient(options, "ifMatch", "string")),
  })),
  stateMutant("takes an owner that is no text for nobody", ["S43"], (store) => ({
    get: (key, options) => store.get(key, lenient(options, "owner", "string")),
  })),
  stateMutant("begins a listing again at a cursor that is no text", ["S43"], (store) => ({
    listKeys: (options) => store.listKeys(lenient(options, "cursor", "string")),
  })),
  stateMutant("takes a limit of a listing that is no number for the default", ["S43"], (store) => ({
    listKeys: (options) => store.listKeys(lenient(options, "limit", "number")),
  })),
  stateMutant("takes an order of a listing that is no text for the default", ["S43"], (store) => ({
    listKeys: (options) => store.listKeys(lenient(options, "order", "string")),
  })),
  stateMutant(
    "begins a listing again at a cursor that it never gave",
    ["S48"],
    (store) => ({
      listKeys: (options) => {
        const isInvented = typeof options?.cursor === "string" && !/^\d+$/.test(options.cursor);
        return store.listKeys(isInvented ? { ...options, cursor: undefined } : options);
      },
    }),
    { spares: ["S43"] },
  ),
];
