import type { StateKey, Tags } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type LateArgument, late, lateName, lateOptions } from "../../support/late.ts";
import { type Mutant, perWorld, stateMutant } from "../../support/mutant.ts";

const LATE: readonly LateArgument[] = [
  ["create", 2, "options", "after one await"],
  ["set", 2, "options", "after a timer", "the etag does not match"],
  ["get", 1, "options", "after one await"],
  ["delete", 1, "options", "after a timer", "the etag does not match"],
  ["listKeys", 0, "options", "after one await"],
];

const cachedTags = perWorld(() => new Map<string, Tags>());
const cachedKeys = perWorld(() => new Map<string, StateKey>());

/** Defects that show when callers change what is theirs. */
export const argumentMutants: readonly Mutant<OpenedStateStore>[] = [
  ...LATE.map((argument) =>
    stateMutant(lateName(argument), ["S10"], (store) => late(store, argument), lateOptions(argument)),
  ),
  stateMutant("copies its options at once, and the tags in them only when it creates", ["S10"], (store) => ({
    create: async (key, text, options) => {
      const own = { ...options };
      await Promise.resolve();
      return store.create(key, text, own);
    },
  })),
  stateMutant("copies its options at once, and the tags in them only when it sets", ["S10"], (store) => ({
    set: async (key, text, options) => {
      const own = { ...options };
      await Promise.resolve();
      return store.set(key, text, own);
    },
  })),
  stateMutant("copies its options at once, and the tags in them only when it lists", ["S10"], (store) => ({
    listKeys: async (options) => {
      const own = { ...options };
      await Promise.resolve();
      return store.listKeys(own);
    },
  })),
  stateMutant("hands out its cached tags to everyone", ["S10"], (store, world) => ({
    get: async (key, options) => {
      const item = await store.get(key, options);
      const tags = cachedTags(world).get(key) ?? { ...item?.tags };
      cachedTags(world).set(key, tags);
      return item && { ...item, tags };
    },
  })),
  stateMutant("hands out its cached keys to everyone", ["S10"], (store, world) => ({
    listKeys: async (options) => {
      const page = await store.listKeys(options);
      return {
        ...page,
        keys: page.keys.map((one) => {
          const own = cachedKeys(world).get(one.key) ?? { ...one };
          cachedKeys(world).set(one.key, own);
          return own;
        }),
      };
    },
  })),
];
