import { AgentFrameworkError, type Scope } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type Mutant, perWorld, stateMutant } from "../../support/mutant.ts";
import type { StateWorld } from "../../support/reference-state.ts";
import { onKeys } from "./helpers.ts";

const expired = perWorld(() => new Map<string, string>());
const lives = perWorld(() => new Map<string, number>());

/** Drops the expiry that makes sense, for defects that bring their own. */
const ownExpiry = {
  adjust: ({ ttlSeconds, ...rest }: StateWorld["requested"]): StateWorld["requested"] =>
    ttlSeconds !== undefined && ttlSeconds > 0 ? rest : { ...rest, ttlSeconds },
};

/** Takes an expiry that makes no sense for none. */
const anyExpiry = {
  adjust: ({ ttlSeconds, ...rest }: StateWorld["requested"]): StateWorld["requested"] =>
    ttlSeconds !== undefined && ttlSeconds > 0 ? { ...rest, ttlSeconds } : rest,
};

const OWNERS = ["alice", "bob", null, "", "null", "Alice", "a:b", "a"];

/** Defects of owners that only one look at them shows. */
const ownerDetailMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("keeps nothing for owners", ["S28"], (store) => ({
    get: async (key, options) => (typeof options?.owner === "string" ? undefined : store.get(key, options)),
  })),
  stateMutant("writes for an owner before it says that it has none", ["S28"], (store) => ({
    capabilities: { ...store.capabilities, isolation: false },
    create: async (key, text, options) => withoutOwner(options, () => store.create(key, text, options)),
    set: async (key, text, options) => {
      await store.set(key, text);
      return withoutOwner(options, () => store.set(key, text, options));
    },
    get: async (key, options) => withoutOwner(options, () => store.get(key, options)),
    delete: async (key, options) => withoutOwner(options, () => store.delete(key, options)),
    listKeys: async (options) => withoutOwner(options, () => store.listKeys(options)),
  })),
  stateMutant("deletes the item of every owner", ["S29"], (store) => ({
    delete: async (key, options) => {
      const isDone = await store.delete(key, options);
      await Promise.all(OWNERS.map((owner) => isDone && store.delete(key, { owner })));
      return isDone;
    },
  })),
  stateMutant("deletes another owner's item when there is none of their own", ["S29"], (store) => ({
    delete: async (key, options) => (await store.delete(key, options)) || store.delete(key, { owner: "alice" }),
  })),
  stateMutant("says that it deleted nothing for an owner", ["S29"], (store) => ({
    delete: async (key, options) => (await store.delete(key, options)) && typeof options?.owner !== "string",
  })),
  stateMutant("reads for owner null what is the owner null's", ["S30"], (store) => ({
    get: (key, options) => store.get(key, options?.owner === null ? { ...options, owner: "null" } : options),
  })),
  stateMutant("writes for owner null what is the owner null's", ["S30"], (store) => ({
    set: (key, text, options) =>
      store.set(key, text, options?.owner === null ? { ...options, owner: "null" } : options),
  })),
  stateMutant("reads an unowned item for an owner who has none", ["S29"], (store) => ({
    get: async (key, options) => (await store.get(key, options)) ?? store.get(key),
  })),
  stateMutant("says that it deleted something for an owner who has nothing", ["S29"], (store) => ({
    delete: async (key, options) => {
      const { keys } = await store.listKeys({ owner: options?.owner });
      return keys.length === 0 || store.delete(key, options);
    },
  })),
  stateMutant("sets for the owner of that name in small letters", ["S29"], (store) => ({
    set: (key, text, options) => store.set(key, text, { ...options, owner: options?.owner?.toLowerCase() ?? null }),
  })),
  stateMutant("deletes for the owner of that name in another Unicode form", ["S29"], (store) => ({
    delete: (key, options) => store.delete(key, { ...options, owner: options?.owner?.normalize("NFC") ?? null }),
  })),
  stateMutant("creates for owner null what is the owner null's", ["S30"], (store) => ({
    create: (key, text, options) =>
      store.create(key, text, options?.owner === null ? { ...options, owner: "null" } : options),
  })),
  stateMutant("deletes for owner null what is the owner null's", ["S30"], (store) => ({
    delete: (key, options) => store.delete(key, options?.owner === null ? { ...options, owner: "null" } : options),
  })),
  stateMutant("says that it deleted an unowned item for owner null, and did not", ["S30"], (store) => ({
    delete: async (key, options) =>
      options?.owner === null ? (await store.get(key)) !== undefined : store.delete(key, options),
  })),
  stateMutant("sets under the key of that name in another Unicode form", ["S08"], (store) => ({
    set: (key, text, options) => store.set(key.normalize("NFC"), text, options),
  })),
  stateMutant("lists for owner null what is the owner null's", ["S30"], (store) => ({
    listKeys: (options) => store.listKeys(options?.owner === null ? { ...options, owner: "null" } : options),
  })),
];

/** Defects of expiry that only one look at them shows. */
const expiryDetailMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("takes ttlSeconds that makes no sense for none", ["S31"], () => ({}), anyExpiry),
  stateMutant("never lets an item expire", ["S31", "S32", "S33"], () => ({}), ownExpiry),
  stateMutant("lets an item expire at once", ["S31"], (store, world) => ({
    get: async (key, options) => (world.requested.ttlSeconds === undefined ? store.get(key, options) : undefined),
  })),
  stateMutant(
    "keeps for ever what was set once more",
    ["S32"],
    (store, world) => ({
      create: (key, text, options) => {
        lives(world).set(key, world.now + (world.requested.ttlSeconds ?? Number.POSITIVE_INFINITY) * 1_000);
        return store.create(key, text, options);
      },
      set: (key, text, options) => {
        lives(world).delete(key);
        return store.set(key, text, options);
      },
      get: async (key, options) =>
        (lives(world).get(key) ?? Number.POSITIVE_INFINITY) <= world.now ? undefined : store.get(key, options),
    }),
    ownExpiry,
  ),
  stateMutant("says that it deleted what had expired", ["S34"], (store, world) => ({
    create: remembering(store, world),
    delete: async (key, options) => (await store.delete(key, options)) || expired(world).has(key),
  })),
  stateMutant("writes under * over what has expired", ["S34"], (store, world) => ({
    create: remembering(store, world),
    set: async (key, text, options) => {
      const isThere = (await store.get(key, { owner: options?.owner })) !== undefined;
      const isOver = !isThere && options?.ifMatch === "*" && expired(world).has(key);
      return store.set(key, text, isOver ? { ...options, ifMatch: undefined } : options);
    },
  })),
  stateMutant("gives a new item the etag of the expired one", ["S34"], (store, world) => ({
    create: async (key, text, options) => {
      const { etag } = await store.create(key, text, options);
      expired(world).set(key, expired(world).get(key) ?? etag);
      return { etag: expired(world).get(key) ?? etag };
    },
  })),
  stateMutant("lists what has expired until something is created", ["S34"], (store, world) => ({
    create: async (key, text, options) => {
      const { keys } = await store.listKeys();
      for (const known of keys.length === 0 ? [...expired(world).keys()] : []) {
        expired(world).delete(known);
      }
      return remembering(store, world)(key, text, options);
    },
    ...onKeys(store, (keys) =>
      keys.length > 0 ? keys : [...expired(world)].map(([key, etag]) => ({ key, etag, tags: {} })),
    ),
  })),
  stateMutant("does not list a key again that has expired once", ["S34"], (store, world) => ({
    create: async (key, text, options) => {
      const isAgain = expired(world).has(key);
      const result = await remembering(store, world)(key, text, options);
      expired(world).set(key, isAgain ? "gone" : result.etag);
      return result;
    },
    ...onKeys(store, (keys) => keys.filter(({ key }) => expired(world).get(key) !== "gone")),
  })),
];

/** Every defect of owners and of expiry that only one look at them shows. */
export const scopeDetailMutants: readonly Mutant<OpenedStateStore>[] = [...ownerDetailMutants, ...expiryDetailMutants];

function withoutOwner<T>(options: Scope | undefined, call: () => Promise<T>): Promise<T> {
  if (options?.owner !== undefined && options.owner !== null) {
    throw new AgentFrameworkError("unsupported", "owner: there is no isolation");
  }
  return call();
}

/** A create that remembers its keys and etags. */
function remembering(
  store: Pick<OpenedStateStore["store"], "create">,
  world: object,
): OpenedStateStore["store"]["create"] {
  return async (key, text, options) => {
    const result = await store.create(key, text, options);
    expired(world).set(key, result.etag);
    return result;
  };
}
