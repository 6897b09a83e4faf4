import type { StateItem } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type Mutant, perWorld, stateMutant } from "../../support/mutant.ts";
import { turn } from "../../support/world.ts";
import { isCode, onGet, onKeys, unlessCode } from "./helpers.ts";

const index = perWorld(() => ({ keys: [] as readonly string[] }));
const stores = perWorld(() => ({ count: 0 }));

/** Defects around outages, signals and several callers that only one look at them shows. */
export const boundaryDetailMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("keeps the text of the current call on the instance", ["S35"], (store) => {
    let current = "";
    return {
      set: async (key, text, options) => {
        current = text;
        await turn();
        return store.set(key, current, options);
      },
    };
  }),
  stateMutant("reads its list of keys, and writes it a moment later", ["S35"], (store, world) => ({
    set: async (key, text, options) => {
      const { keys } = index(world);
      const result = await store.set(key, text, options);
      index(world).keys = [...keys, key];
      return result;
    },
    ...onKeys(store, (keys) => keys.filter(({ key }) => index(world).keys.includes(key))),
  })),
  stateMutant("counts etags for each process", ["S36"], (store, world) => {
    const own = stores(world).count;
    stores(world).count += 1;
    return onGet(store, (item) => ({ ...item, etag: own === 0 ? item.etag : `${own}:${item.etag}` }));
  }),
  stateMutant("reads what it set itself from a cache", ["S36"], (store) => {
    const cache = new Map<string, StateItem>();
    return {
      set: async (key, text, options) => {
        const { etag } = await store.set(key, text, options);
        if (options?.ifMatch === undefined) {
          cache.set(key, { key, text, etag, tags: {} });
        }
        return { etag };
      },
      get: async (key, options) => cache.get(key) ?? store.get(key, options),
    };
  }),
  stateMutant("reads what it set under a condition from a cache", ["S36"], (store) => {
    const cache = new Map<string, StateItem>();
    return {
      set: async (key, text, options) => {
        const { etag } = await store.set(key, text, options);
        if (options?.ifMatch !== undefined) {
          cache.set(key, { key, text, etag, tags: {} });
        }
        return { etag };
      },
      get: async (key, options) => cache.get(key) ?? store.get(key, options),
    };
  }),
  stateMutant("lists what it set itself from a cache", ["S36"], (store) => {
    const cache = new Set<string>();
    return {
      set: (key, text, options) => {
        cache.add(key);
        return store.set(key, text, options);
      },
      ...onKeys(store, (keys) => [
        ...keys,
        ...[...cache]
          .filter((key) => keys.every((one) => one.key !== key))
          .map((key) => ({ key, etag: "0", tags: {} })),
      ]),
    };
  }),
  stateMutant("begins with nothing when it connects again", ["S38"], (store, world) => {
    let hasFailed = false;
    return {
      get: (key, options) =>
        unlessCode(store.get(key, options), "unavailable", (error) => {
          hasFailed = true;
          throw error;
        }),
      set: async (key, text, options) => {
        if (hasFailed) {
          const { keys } = await world.inner.listKeys();
          await Promise.all(keys.map((one) => world.inner.delete(one.key)));
        }
        return store.set(key, text, options);
      },
    };
  }),
  stateMutant("acknowledges what it does not write after a second outage", ["S38"], (store) => {
    let outages = 0;
    return {
      get: (key, options) =>
        unlessCode(store.get(key, options), "unavailable", (error) => {
          outages += 1;
          throw error;
        }),
      set: async (key, text, options) => (outages > 1 ? { etag: "0" } : store.set(key, text, options)),
    };
  }),
  stateMutant("acknowledges what it does not write after a timeout", ["S39"], (store) => {
    let wasLate = false;
    return {
      set: async (key, text, options) => {
        if (wasLate) {
          return { etag: "0" };
        }
        return store.set(key, text, options).catch((error: unknown) => {
          wasLate = isCode(error, "timeout", "outcome_unknown");
          throw error;
        });
      },
    };
  }),
  stateMutant("renews the etag before it looks at the signal", ["S40"], (store) => ({
    set: async (key, text, options) => {
      const item = await store.get(key);
      await (item && store.set(key, item.text));
      return store.set(key, text, options);
    },
  })),
  stateMutant("creates before it looks at the signal", ["S40"], (store) => ({
    create: async (key, text, options) => {
      const { signal, ...rest } = options ?? {};
      const { etag } = await store.create(key, text, rest);
      await store.get(key, { signal });
      return { etag };
    },
  })),
  stateMutant("acknowledges what it does not write", ["S02", "S41"], (store) => ({
    set: async () => ({ etag: (await store.listKeys()).keys[0]?.etag ?? "0" }),
  })),
  stateMutant("writes before it looks at the condition's type", ["S43"], (store) => ({
    set: async (key, text, options) => {
      if (typeof options?.ifMatch !== "string") {
        await store.set(key, text);
      }
      return store.set(key, text, options);
    },
  })),
  stateMutant("creates before it looks at the options", ["S43"], (store) => ({
    create: async (key, text, options) => {
      await store.set(key, text);
      await store.get(key, options);
      return store.create(`${key} again`, text, options);
    },
  })),
  stateMutant("invents an etag when the reply to a create was lost", ["S44"], (store) => ({
    create: (key, text, options) =>
      unlessCode(store.create(key, text, options), "outcome_unknown", () => ({ etag: "unknown" })),
  })),
  stateMutant("invents an etag when the reply to a set was lost", ["S45"], (store) => ({
    set: (key, text, options) =>
      unlessCode(store.set(key, text, options), "outcome_unknown", () => ({ etag: "unknown" })),
  })),
  stateMutant("deletes before it sets", ["S47"], (store, world) => ({
    set: async (key, text, options) => {
      await world.inner.delete(key);
      return store.set(key, text, options);
    },
  })),
  stateMutant("acknowledges what it does not write once a connection has ended", ["S47"], (store) => {
    let hasEnded = false;
    return {
      set: async (key, text, options) =>
        hasEnded
          ? { etag: "0" }
          : unlessCode(store.set(key, text, options), "unavailable", (error) => {
              hasEnded = true;
              throw error;
            }),
    };
  }),
];
