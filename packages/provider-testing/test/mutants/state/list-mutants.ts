import type { StateKey, StateListOptions } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type Mutant, perWorld, stateMutant, withoutTtl } from "../../support/mutant.ts";
import type { StateWorld } from "../../support/reference-state.ts";

const expiries = perWorld(() => new Map<string, number>());
const storeExpiry = perWorld(() => ({ at: Number.POSITIVE_INFINITY }));

const ownTtl = {
  adjust: ({ ttlSeconds, ...rest }: StateWorld["requested"]): StateWorld["requested"] =>
    ttlSeconds === undefined || ttlSeconds > 0 ? rest : { ...rest, ttlSeconds },
};

async function everyKey(world: StateWorld, options: StateListOptions | undefined): Promise<readonly StateKey[]> {
  const { keys } = await world.inner.listKeys({ owner: options?.owner, order: options?.order, limit: 10_000 });
  return keys;
}

/** Defects of listings and tags. */
const listMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("merges new tags into the old ones", ["S22"], (store) => ({
    set: async (key, text, options) => {
      const old = await store.get(key, options);
      return store.set(key, text, { ...options, tags: { ...old?.tags, ...options?.tags } });
    },
  })),
  stateMutant("lists the keys that carry any of the tags", ["S23"], (store, world) => ({
    listKeys: async (options) => {
      const tags = Object.entries(options?.tags ?? {});
      if (tags.length === 0) {
        return store.listKeys(options);
      }
      const keys = await everyKey(world, options);
      return { keys: keys.filter((one) => tags.some(([name, value]) => one.tags[name] === value)) };
    },
  })),
  stateMutant("filters each page by tags after it was cut", ["S23"], (store) => ({
    listKeys: async (options) => {
      const page = await store.listKeys({ ...options, tags: undefined });
      const tags = Object.entries(options?.tags ?? {});
      const keys = page.keys.filter((one) => tags.every(([name, value]) => one.tags[name] === value));
      // A page that came out empty is taken for the end.
      return keys.length === 0 ? { keys } : { ...page, keys };
    },
  })),
  stateMutant("orders by a time that several keys share", ["S24"], (_, world) => ({
    listKeys: async (options) => {
      const keys = [...(await everyKey(world, { ...options, order: "asc" }))];
      const limit = options?.limit ?? 100;
      const start = Number(options?.cursor ?? 0);
      // Backwards, the keys of one moment still come in the order in which they were made.
      const moments = [...new Set(keys.map((_key, index) => Math.floor(index / 10)))];
      const groups = moments.map((moment) => keys.slice(moment * 10, moment * 10 + 10));
      const ordered = (options?.order === "desc" ? groups.reverse() : groups).flat();
      const page = ordered.slice(start, start + limit);
      return start + limit < ordered.length ? { keys: page, cursor: String(start + limit) } : { keys: page };
    },
  })),
  stateMutant(
    "counts its cursor as an offset",
    ["S25"],
    (store, world) => ({
      listKeys: async (options) => {
        if (options?.tags !== undefined || !((options?.limit ?? 1) >= 1)) {
          return store.listKeys(options);
        }
        const keys = await everyKey(world, options);
        const limit = options?.limit ?? 100;
        const start = Number(options?.cursor ?? 0);
        const page = keys.slice(start, start + limit);
        return start + limit < keys.length ? { keys: page, cursor: String(start + limit) } : { keys: page };
      },
    }),
    { spares: ["S24", "S26", "S27"] },
  ),
  stateMutant(
    "moves a key to the end of the order when it is written",
    ["S25"],
    (store) => ({
      set: async (key, text, options) => {
        if (options?.ifMatch === undefined) {
          await store.delete(key, { owner: options?.owner });
        }
        return store.set(key, text, options);
      },
    }),
    { spares: ["S24"] },
  ),
  stateMutant("lists etags as they were at first", ["S14", "S26"], (store) => ({
    listKeys: async (options) => {
      const page = await store.listKeys(options);
      return { ...page, keys: page.keys.map((one) => ({ ...one, etag: "1" })) };
    },
  })),
  stateMutant("lists keys without their tags", ["S26"], (store) => ({
    listKeys: async (options) => {
      const page = await store.listKeys(options);
      return { ...page, keys: page.keys.map((one) => ({ ...one, tags: {} })) };
    },
  })),
  stateMutant("lists everything when no limit is set", ["S27"], (store) => ({
    listKeys: (options) => store.listKeys({ ...options, limit: options?.limit ?? 100_000 }),
  })),
];

/** Defects of owners and of expiry. */
const isolationMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("ignores the owner though it declares isolation", ["S28", "S29"], (store) => ({
    create: (key, text, options) => store.create(key, text, { ...options, owner: undefined }),
    set: (key, text, options) => store.set(key, text, { ...options, owner: undefined }),
    get: (key, options) => store.get(key, { ...options, owner: undefined }),
  })),
  stateMutant("ignores the owner without declaring isolation", ["S28"], (store) => ({
    capabilities: { ...store.capabilities, isolation: false },
  })),
  stateMutant('takes the owner "" for no owner', ["S29"], (store) => ({
    create: (key, text, options) => store.create(key, text, { ...options, owner: options?.owner || null }),
    get: (key, options) => store.get(key, { ...options, owner: options?.owner || null }),
    delete: (key, options) => store.delete(key, { ...options, owner: options?.owner || null }),
    listKeys: (options) => store.listKeys({ ...options, owner: options?.owner || null }),
  })),
  stateMutant("lists the keys of every owner", ["S29"], (store, world) => ({
    listKeys: async (options) => {
      const own = await store.listKeys(options);
      const others = await world.inner.listKeys({ owner: "alice" });
      return { ...own, keys: [...own.keys, ...(options?.owner === "bob" ? others.keys : [])] };
    },
  })),
  stateMutant("keeps items without an owner apart from those of owner null", ["S30"], (store) => ({
    set: (key, text, options) => store.set(key, text, { ...options, owner: ownerOf(options) }),
    get: (key, options) => store.get(key, { ...options, owner: ownerOf(options) }),
  })),
  stateMutant("ignores ttlSeconds though it declares ttl", ["S31", "S32", "S33", "S34"], () => ({}), withoutTtl),
  stateMutant("takes ttlSeconds without declaring ttl", ["S31"], (store) => ({
    capabilities: { ...store.capabilities, ttl: false },
  })),
  stateMutant(
    "keeps one expiry for the whole store",
    ["S32"],
    (store, world) => {
      const renew = () => {
        storeExpiry(world).at = world.now + lifeMs(world);
      };
      return {
        create: (key, text, options) => {
          renew();
          return store.create(key, text, options);
        },
        set: (key, text, options) => {
          renew();
          return store.set(key, text, options);
        },
        get: async (key, options) => (storeExpiry(world).at <= world.now ? undefined : store.get(key, options)),
      };
    },
    { ...ownTtl, spares: ["S31", "S33"] },
  ),
  stateMutant(
    "sets the expiry with create only",
    ["S32"],
    (store, world) => {
      const set = expiries(world);
      return {
        create: (key, text, options) => {
          set.set(key, world.now + lifeMs(world));
          return store.create(key, text, options);
        },
        get: async (key, options) =>
          (set.get(key) ?? Number.POSITIVE_INFINITY) <= world.now ? undefined : store.get(key, options),
      };
    },
    ownTtl,
  ),
  stateMutant(
    "renews with each read",
    ["S33"],
    (store, world) => {
      const set = expiries(world);
      const touch = (key: string) => set.set(key, world.now + lifeMs(world));
      return {
        create: (key, text, options) => {
          touch(key);
          return store.create(key, text, options);
        },
        set: (key, text, options) => {
          touch(key);
          return store.set(key, text, options);
        },
        get: async (key, options) => {
          if ((set.get(key) ?? Number.POSITIVE_INFINITY) <= world.now) {
            return undefined;
          }
          touch(key);
          return store.get(key, options);
        },
      };
    },
    { ...ownTtl, spares: ["S31"] },
  ),
  stateMutant(
    "hides what is expired from get alone",
    ["S34"],
    (store, world) => {
      const set = expiries(world);
      return {
        create: (key, text, options) => {
          set.set(key, world.now + lifeMs(world));
          return store.create(key, text, options);
        },
        set: (key, text, options) => {
          set.set(key, world.now + lifeMs(world));
          return store.set(key, text, options);
        },
        get: async (key, options) =>
          (set.get(key) ?? Number.POSITIVE_INFINITY) <= world.now ? undefined : store.get(key, options),
      };
    },
    { ...ownTtl, spares: ["S31", "S32", "S33"] },
  ),
];

/** Every defect of listings, owners and expiry. */
export const listAndIsolationMutants: readonly Mutant<OpenedStateStore>[] = [...listMutants, ...isolationMutants];

function lifeMs(world: StateWorld): number {
  return (world.requested.ttlSeconds ?? Number.POSITIVE_INFINITY) * 1_000;
}

function ownerOf(options: { readonly owner?: string | null | undefined } | undefined): string | null {
  return options?.owner === undefined ? "undefined" : options.owner;
}
