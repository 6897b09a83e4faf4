import { AgentFrameworkError, type StateItem, type StateStore } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type Mutant, perWorld, stateMutant } from "../../support/mutant.ts";
import { isCode } from "./helpers.ts";

const written = perWorld(() => new Set<string>());
const softDeleted = perWorld(() => new Map<string, StateItem>());

/** A store that tells of each key that it has written. */
function tellingWrites(store: StateStore, tell: (key: string) => void): Pick<StateStore, "create" | "set"> {
  return {
    create: async (key, text, options) => {
      const created = await store.create(key, text, options);
      tell(key);
      return created;
    },
    set: async (key, text, options) => {
      const set = await store.set(key, text, options);
      tell(key);
      return set;
    },
  };
}

function emptyItem(key: string): StateItem {
  return { key, text: "{}", etag: "0", tags: {} };
}

/** Defects that show with some keys only, or at some times. */
const someKeysMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("reads any key as an empty object until something is written", ["S02"], (store, world) => ({
    ...tellingWrites(store, (key) => written(world).add(key)),
    get: async (key, options) =>
      (await store.get(key, options)) ?? (written(world).size === 0 ? emptyItem(key) : undefined),
  })),
  stateMutant("reads any key as an empty object once something is written", ["S02"], (store, world) => ({
    ...tellingWrites(store, (key) => written(world).add(key)),
    get: async (key, options) =>
      (await store.get(key, options)) ?? (written(world).size === 0 ? undefined : emptyItem(key)),
  })),
  stateMutant("lists only what create has made", ["S02"], (store, world) => ({
    create: async (key, text, options) => {
      const created = await store.create(key, text, options);
      written(world).add(key);
      return created;
    },
    listKeys: async (options) => {
      const page = await store.listKeys(options);
      return { ...page, keys: page.keys.filter(({ key }) => written(world).has(key)) };
    },
  })),
  stateMutant("says that it deleted what was never there", ["S04"], (store, world) => ({
    ...tellingWrites(store, (key) => written(world).add(key)),
    delete: async (key, options) => (await store.delete(key, options)) || !written(world).has(key),
  })),
  stateMutant("says again that it deleted what is gone", ["S04"], (store, world) => ({
    ...tellingWrites(store, (key) => written(world).add(key)),
    delete: async (key, options) => (await store.delete(key, options)) || written(world).has(key),
  })),
  stateMutant("still reads what was deleted", ["S04"], (store, world) => ({
    delete: async (key, options) => {
      const item = await store.get(key, options);
      if (item !== undefined) {
        softDeleted(world).set(key, item);
      }
      return store.delete(key, options);
    },
    get: async (key, options) => (await store.get(key, options)) ?? softDeleted(world).get(key),
  })),
  stateMutant("lists another etag than it reads", ["S14"], (store) => ({
    listKeys: async (options) => {
      const page = await store.listKeys(options);
      return { ...page, keys: page.keys.map((key) => ({ ...key, etag: `${key.etag}-listed` })) };
    },
  })),
  stateMutant("gives 50 keys at once where no number is asked for", ["S27"], (store) => ({
    listKeys: (options) => store.listKeys({ ...options, limit: options?.limit ?? 50 }),
  })),
  stateMutant("deletes one owner's key for another owner too", ["S29"], (store) => ({
    delete: async (key, options) => {
      const isDeleted = await store.delete(key, options);
      if (isDeleted && options?.owner === "alice") {
        await store.delete(key, { owner: "bob" });
      }
      return isDeleted;
    },
  })),
  stateMutant("writes for an owner, and then says that it knows none", ["S28"], (store, world) => {
    const refused = async (): Promise<never> => {
      throw new AgentFrameworkError("unsupported", "owner", { provider: "reference" });
    };
    const { create, get, listKeys } = store;
    return {
      capabilities: { ...store.capabilities, isolation: false },
      create: (key, text, options) => (options?.owner ? refused() : create(key, text, options)),
      get: (key, options) => (options?.owner ? refused() : get(key, options)),
      listKeys: (options) => (options?.owner ? refused() : listKeys(options)),
      delete: (key, options) => (options?.owner ? refused() : store.delete(key, options)),
      set: async (key, text, options) => {
        if (options?.owner) {
          await world.inner.set(key, text);
          return refused();
        }
        return store.set(key, text, options);
      },
    };
  }),
];

/** Defects that show with a second store, in an outage or after one. */
const backendMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("gives another etag than the store that wrote", ["S36"], (store) => {
    const own = new Set<string>();
    return {
      ...tellingWrites(store, (key) => own.add(key)),
      get: async (key, options) => {
        const item = await store.get(key, options);
        return item === undefined || own.has(key) ? item : { ...item, etag: `${item.etag}-elsewhere` };
      },
    };
  }),
  stateMutant("still reads what another store has deleted", ["S36"], (store) => {
    const seen = new Map<string, StateItem>();
    return {
      get: async (key, options) => {
        const item = await store.get(key, options);
        if (item !== undefined) {
          seen.set(key, item);
        }
        return item ?? seen.get(key);
      },
    };
  }),
  stateMutant("loses what is written after an outage", ["S38"], (store) => {
    let wasDown = false;
    return {
      get: async (key, options) => {
        try {
          return await store.get(key, options);
        } catch (error) {
          wasDown = wasDown || isCode(error, "unavailable");
          throw error;
        }
      },
      set: async (key, text, options) => (wasDown ? { etag: "lost" } : store.set(key, text, options)),
    };
  }),
  stateMutant("guesses the etag of a write whose reply was lost", ["S44", "S45"], (store) => {
    const guess = (error: unknown): { readonly etag: string } => {
      if (isCode(error, "outcome_unknown")) {
        return { etag: "guessed" };
      }
      throw error;
    };
    return {
      create: (key, text, options) => store.create(key, text, options).catch(guess),
      set: (key, text, options) => store.set(key, text, options).catch(guess),
    };
  }),
  stateMutant("does not delete when the reply is lost, and says that it did", ["S46"], (store, world) => ({
    delete: async (key, options) => {
      if (world.fault === "lost reply") {
        world.fault = undefined;
        return true;
      }
      return store.delete(key, options);
    },
  })),
  stateMutant("empties the item when the request of a set is lost", ["S47"], (store, world) => ({
    set: async (key, text, options) => {
      if (world.fault === "lost request") {
        await world.inner.set(key, "{}");
      }
      return store.set(key, text, options);
    },
  })),
];

/** Every defect that shows in one place only. */
export const narrowMutants: readonly Mutant<OpenedStateStore>[] = [...someKeysMutants, ...backendMutants];
