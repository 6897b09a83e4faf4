import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant } from "../../support/mutant.ts";
import { turn } from "../../support/world.ts";

/** Defects of replace in its steps and conditions. */
export const replaceMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("does nothing when it is asked to replace", ["H53"], (store, world) => ({
    capabilities: { ...store.capabilities, replace: false },
    replace: async (key) => {
      await world.inner.clear(key);
      return { version: "" };
    },
  })),
  historyMutant(
    "replaces from the beginning when the first id is gone",
    ["H61"],
    (store, world) => ({
      replace: async (key, { fromId, throughId }, records, options) => {
        const { records: stored } = await world.inner.read(key);
        const has = (id: string) => stored.some((one) => one.id === id);
        const range = {
          fromId: has(fromId) ? fromId : (stored[0]?.id ?? fromId),
          throughId: has(throughId) ? throughId : (stored.at(-1)?.id ?? throughId),
        };
        return store.replace(key, range, records, options);
      },
    }),
    { spares: ["H54", "H55"] },
  ),
  historyMutant(
    "forgets the ids that were replaced",
    ["H62"],
    (store, world) => ({
      replace: async (key, range, records, options) => {
        await store.replace(key, range, records, options);
        const { records: kept } = await world.inner.read(key);
        await world.inner.clear(key);
        return world.inner.append(key, kept);
      },
    }),
    { spares: ["H53", "H60", "H61"] },
  ),
  historyMutant(
    "reads, changes and writes back, and loses what came in between",
    ["H63"],
    (store, world) => ({
      replace: async (key, { fromId, throughId }, records, options) => {
        const { records: seen } = await store.read(key);
        for (let step = 0; step < 3; step += 1) {
          await turn();
        }
        const { records: stored } = await world.inner.read(key);
        const late = stored.slice(seen.length);
        if (late.length > 0) {
          const ends = { fromId: late[0]?.id ?? "", throughId: late.at(-1)?.id ?? "" };
          await world.inner.replace(key, ends, []);
        }
        return store.replace(key, { fromId, throughId }, records, options);
      },
    }),
    { spares: ["H53", "H54", "H62"] },
  ),
  historyMutant(
    "deletes the range before it writes the replacement",
    ["H64"],
    (store) => ({
      replace: async (key, { fromId, throughId }, records, options) => {
        const { records: stored } = await store.read(key);
        const index = (id: string) => stored.findIndex((one) => one.id === id);
        const kept = stored.slice(index(fromId), index(throughId)).map(({ id }) => id);
        const [first] = kept;
        if (first !== undefined && kept.length > 1) {
          await store.replace(key, { fromId: first, throughId: kept.at(-1) ?? first }, []);
          return store.replace(key, { fromId: throughId, throughId }, records, options);
        }
        return store.replace(key, { fromId, throughId }, records, options);
      },
    }),
    { spares: ["H54", "H55", "H56"] },
  ),
  historyMutant("ignores ifVersion when it replaces", ["H65"], (store) => ({
    replace: (key, range, records, options) => store.replace(key, range, records, { ...options, ifVersion: undefined }),
  })),
  historyMutant("checks the new records after the old ones are gone", ["H66"], (store) => ({
    replace: async (key, range, records, options) => {
      await store.replace(key, { fromId: range.fromId, throughId: range.fromId }, [{ id: range.fromId, data: "{}" }]);
      return store.replace(key, range, records, options);
    },
  })),
];
