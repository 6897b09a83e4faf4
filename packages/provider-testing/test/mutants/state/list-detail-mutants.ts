import type { StateKey, Tags } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type Mutant, perWorld, stateMutant } from "../../support/mutant.ts";
import { busy, onGet, onKeys, unlessCode } from "./helpers.ts";

const everyTag = perWorld(() => new Map<string, Tags>());
const setKeys = perWorld(() => new Set<string>());

/** Defects of tags and of listings that only one look at them shows. */
export const listDetailMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("reads all tags that an item had since a write without any", ["S22"], (store, world) => ({
    create: (key, text, options) => {
      everyTag(world).set(key, { ...options?.tags });
      return store.create(key, text, options);
    },
    set: (key, text, options) => {
      everyTag(world).set(key, options?.tags ? { ...everyTag(world).get(key), ...options.tags } : {});
      return store.set(key, text, options);
    },
    ...onGet(store, (item) => ({ ...item, tags: everyTag(world).get(item.key) ?? item.tags })),
  })),
  stateMutant("reads the last tags of an item after a write without any", ["S22"], (store, world) => ({
    set: (key, text, options) => {
      everyTag(world).set(key, options?.tags ?? everyTag(world).get(key) ?? {});
      return store.set(key, text, options);
    },
    ...onGet(store, (item) => ({ ...item, tags: everyTag(world).get(item.key) ?? item.tags })),
  })),
  stateMutant("goes on listing a key under tags that were replaced", ["S22"], (store, world) => ({
    create: (key, text, options) => {
      everyTag(world).set(key, { ...options?.tags });
      return store.create(key, text, options);
    },
    set: (key, text, options) => {
      everyTag(world).set(key, options?.tags ? { ...everyTag(world).get(key), ...options.tags } : {});
      return store.set(key, text, options);
    },
    listKeys: async (options) =>
      listedBy(await store.listKeys({ ...options, tags: undefined }), options?.tags, everyTag(world)),
  })),
  stateMutant("goes on listing a key under tags that were removed", ["S22"], (store, world) => ({
    set: (key, text, options) => {
      everyTag(world).set(key, options?.tags ?? everyTag(world).get(key) ?? {});
      return store.set(key, text, options);
    },
    listKeys: async (options) =>
      listedBy(await store.listKeys({ ...options, tags: undefined }), options?.tags, everyTag(world)),
  })),
  stateMutant("does not list under the tags that set gives", ["S22"], (store, world) => ({
    set: (key, text, options) => {
      setKeys(world).add(key);
      return store.set(key, text, options);
    },
    ...onKeys(store, (keys, options) => keys.filter(({ key }) => !options?.tags || !setKeys(world).has(key))),
  })),
  stateMutant("drops one of many tags when it finds nothing", ["S23"], (store) => ({
    listKeys: async (options) => {
      const page = await store.listKeys(options);
      const tags = Object.entries(options?.tags ?? {});
      return page.keys.length > 0 || tags.length < 2
        ? page
        : store.listKeys({ ...options, tags: Object.fromEntries(tags.slice(0, -1)) });
    },
  })),
  stateMutant("ignores a tag that no item has", ["S23"], (store) => ({
    listKeys: async (options) => {
      const { keys } = await store.listKeys({ owner: options?.owner });
      const known = Object.entries(options?.tags ?? {}).filter(([name]) =>
        keys.some(({ tags }) => Object.hasOwn(tags, name)),
      );
      return store.listKeys({ ...options, tags: Object.fromEntries(known) });
    },
  })),
  stateMutant("does not list the newest key", ["S24"], (store, world) => ({
    listKeys: async (options) => {
      const { keys } = await world.inner.listKeys({ owner: options?.owner, limit: 10_000 });
      const page = await store.listKeys(options);
      return { ...page, keys: page.keys.filter(({ key }) => key !== keys.at(-1)?.key) };
    },
  })),
  stateMutant("sorts each page by name when it is asked for an order", ["S24"], (store) =>
    onKeys(store, (keys, options) =>
      options?.order === "asc" ? [...keys].sort((left, right) => (left.key < right.key ? -1 : 1)) : keys,
    ),
  ),
  stateMutant("counts its cursor as an offset, forwards", ["S25"], (store, world) => ({
    listKeys: async (options) => {
      if (options?.order === "desc" || options?.limit === undefined) {
        return store.listKeys(options);
      }
      const { keys } = await world.inner.listKeys({ owner: options.owner, limit: 10_000 });
      const start = Number(options.cursor ?? 0);
      const end = start + options.limit;
      return { keys: keys.slice(start, end), cursor: end < keys.length ? String(end) : undefined };
    },
  })),
  stateMutant("gives 50 keys where no limit was set", ["S27"], (store) => ({
    listKeys: (options) => store.listKeys({ ...options, limit: options?.limit ?? 50 }),
  })),
  stateMutant("loses what is behind the first page", ["S27"], (store) =>
    onKeys(store, (keys, options) => (options?.cursor === undefined ? keys : [])),
  ),
  stateMutant(
    "says that its server is busy at a cursor that it never gave",
    ["S48"],
    (store) => ({
      listKeys: (options) => unlessCode(store.listKeys(options), "configuration", busy),
    }),
    { rejects: "the server is busy" },
  ),
];

function listedBy(
  page: { readonly keys: readonly StateKey[] },
  wanted: Tags | undefined,
  tags: ReadonlyMap<string, Tags>,
): { readonly keys: readonly StateKey[] } {
  const entries = Object.entries(wanted ?? {});
  return { keys: page.keys.filter(({ key }) => entries.every(([name, value]) => tags.get(key)?.[name] === value)) };
}
