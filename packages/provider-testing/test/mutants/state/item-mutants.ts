import { AgentFrameworkError, isPlainObject, type StateStore } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type Mutant, perWorld, queue, stateMutant } from "../../support/mutant.ts";
import { turn } from "../../support/world.ts";
import { withKeys } from "./helpers.ts";

const liveTags = perWorld(() => new Map<string, Record<string, string>>());
const etagCounts = perWorld(() => new Map<string, number>());

/** Defects of items: text, keys, tags and etags. */
const itemMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("declares no size", ["S01"], (store) => ({
    capabilities: { ...store.capabilities, maxValueBytes: Number.NaN },
  })),
  stateMutant("loses the tags that create is given", ["S02"], (store) => ({
    create: (key, text, options) => store.create(key, text, { ...options, tags: undefined }),
  })),
  stateMutant("reads an unknown key as an empty object", ["S02"], (store) => ({
    get: async (key, options) => (await store.get(key, options)) ?? { key, text: "{}", etag: "0", tags: {} },
  })),
  stateMutant("merges what is set into what is there", ["S03"], (store) => ({
    set: async (key, text, options) => {
      const old: unknown = JSON.parse((await store.get(key, options))?.text ?? "{}");
      const fresh: unknown = JSON.parse(text);
      const isBoth = isPlainObject(old) && isPlainObject(fresh);
      return store.set(key, isBoth ? JSON.stringify({ ...old, ...fresh }) : text, options);
    },
  })),
  stateMutant("says that it deleted what was not there", ["S04"], (store) => ({
    delete: async (key, options) => {
      await store.delete(key, options);
      return true;
    },
  })),
  stateMutant("keeps text in a column that parses and prints JSON", ["S05"], (store) => ({
    get: async (key, options) => {
      const item = await store.get(key, options);
      return item && { ...item, text: JSON.stringify(JSON.parse(item.text)) };
    },
  })),
  stateMutant("wraps what is no object", ["S06"], (store) => ({
    set: (key, text, options) => store.set(key, wrapped(text), options),
    create: (key, text, options) => store.create(key, wrapped(text), options),
  })),
  stateMutant("counts the size of text in UTF-16 units", ["S07"], (store, world) => ({
    set: (key, text, options) =>
      text.length > store.capabilities.maxValueBytes
        ? store.set(key, text, options)
        : world.inner.set(key, text, options),
  })),
  stateMutant(
    "keeps keys in a column of 128 characters",
    ["S08"],
    (store) => withKeys(store, (key) => (typeof key === "string" ? key.slice(0, 128) : key)),
    { rejects: "the key is taken" },
  ),
  stateMutant(
    "keeps keys without regard to case",
    ["S08"],
    (store) => withKeys(store, (key) => (typeof key === "string" ? key.toLowerCase() : key)),
    { rejects: "the key is taken" },
  ),
  stateMutant("takes any key for its text", ["S09"], (store) => withKeys(store, (key) => String(key || "default"))),
  stateMutant("takes limit 0 for the default", ["S09"], (store) => ({
    listKeys: (options) => store.listKeys({ ...options, limit: options?.limit || undefined }),
  })),
  stateMutant("takes a Map of tags for no tags", ["S09"], (store) => ({
    set: (key, text, options) => store.set(key, text, { ...options, tags: options?.tags && { ...options.tags } }),
  })),
  stateMutant("lists everything for a Map of tags", ["S09"], (store) => ({
    listKeys: (options) => store.listKeys({ ...options, tags: options?.tags && { ...options.tags } }),
  })),
  stateMutant("keeps the tags object that it is given", ["S10"], (store, world) => ({
    set: async (key, text, options) => {
      const result = await store.set(key, text, options);
      liveTags(world).set(key, options?.tags ?? {});
      return result;
    },
    get: async (key, options) => {
      const item = await store.get(key, options);
      return item && { ...item, tags: liveTags(world).get(key) ?? item.tags };
    },
  })),
  stateMutant("makes its etag from the text", ["S14"], (store, world) => ({
    set: async (key, text, options) => {
      await store.set(key, text, options);
      return { etag: `hash of ${text}` };
    },
    get: async (key, options) => {
      const item = await world.inner.get(key, options);
      return item && { ...item, etag: `hash of ${item.text}` };
    },
  })),
  stateMutant("counts etags from one again after a delete", ["S14"], (store, world) => {
    const counts = etagCounts(world);
    const counted = async (key: string, write: Promise<unknown>) => {
      await write;
      counts.set(key, (counts.get(key) ?? 0) + 1);
      return { etag: String(counts.get(key)) };
    };
    const etag = (key: string) => ({ etag: String(counts.get(key)) });
    return {
      create: (key, text, options) => counted(key, store.create(key, text, options)),
      set: (key, text, options) => counted(key, store.set(key, text, options)),
      get: async (key, options) => {
        const item = await store.get(key, options);
        return item && { ...item, ...etag(key) };
      },
      delete: async (key, options) => {
        counts.delete(key);
        return store.delete(key, options);
      },
      listKeys: async (options) => {
        const page = await store.listKeys(options);
        return { ...page, keys: page.keys.map((one) => ({ ...one, ...etag(one.key) })) };
      },
    };
  }),
];

/** Defects of conditional writes. */
const conditionMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("overwrites on create", ["S11", "S12"], (store) => ({
    create: (key, text, options) => store.set(key, text, options),
  })),
  stateMutant("does not say which etag is current", ["S11", "S15"], (store) => ({
    create: (key, text, options) => withoutEtag(store.create(key, text, options)),
    set: (key, text, options) => withoutEtag(store.set(key, text, options)),
  })),
  stateMutant("looks before it creates, not while it creates", ["S12"], (store) => ({ create: lookThenSet(store) }), {
    spares: ["S02"],
  }),
  stateMutant(
    "creates under a lock inside the process",
    ["S13"],
    (store) => {
      const inOrder = queue();
      const create = lookThenSet(store);
      return { create: (key, text, options) => inOrder(() => create(key, text, options)) };
    },
    { spares: ["S12"] },
  ),
  stateMutant("ignores ifMatch", ["S15", "S16", "S18", "S20"], (store) => ({
    set: (key, text, options) => store.set(key, text, { ...options, ifMatch: undefined }),
  })),
  stateMutant(
    "creates the item when the one to match is not there",
    ["S16"],
    (store) => ({
      set: async (key, text, options) => {
        const isThere = (await store.get(key, { owner: options?.owner })) !== undefined;
        return store.set(key, text, isThere ? options : { ...options, ifMatch: undefined });
      },
    }),
    { spares: ["S15", "S17", "S18"] },
  ),
  stateMutant(
    "compares * as if it were an etag",
    ["S17"],
    (store) => ({
      set: (key, text, options) =>
        store.set(key, text, options?.ifMatch === "*" ? { ...options, ifMatch: "\\*" } : options),
    }),
    { rejects: "the etag does not match" },
  ),
  stateMutant(
    "compares the etag before the write, not in it",
    ["S18", "S20"],
    (store) => ({ set: compareThenSet(store) }),
    {
      spares: ["S15", "S16"],
    },
  ),
  stateMutant(
    "compares the etag under a lock inside the process",
    ["S19"],
    (store) => {
      const inOrder = queue();
      const set = compareThenSet(store);
      return { set: (key, text, options) => inOrder(() => set(key, text, options)) };
    },
    { spares: ["S18", "S20"] },
  ),
  stateMutant("ignores ifMatch when it deletes", ["S21"], (store) => ({
    delete: (key, options) => store.delete(key, { ...options, ifMatch: undefined }),
  })),
];

/** Every defect of items and of conditional writes. */
export const itemAndConditionMutants: readonly Mutant<OpenedStateStore>[] = [...itemMutants, ...conditionMutants];

function wrapped(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? text : JSON.stringify({ value });
  } catch {
    return JSON.stringify({ value: String(text) });
  }
}

async function withoutEtag<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof AgentFrameworkError && error.code === "conflict"
      ? new AgentFrameworkError("conflict", "conflict")
      : error;
  }
}

function lookThenSet(store: StateStore): StateStore["create"] {
  return async (key, text, options) => {
    const existing = await store.get(key, options);
    return existing === undefined ? store.set(key, text, options) : store.create(key, text, options);
  };
}

function compareThenSet(store: StateStore): StateStore["set"] {
  return async (key, text, options) => {
    const existing = await store.get(key, options);
    await turn();
    const matches = options?.ifMatch === existing?.etag || (options?.ifMatch === "*" && existing !== undefined);
    return store.set(key, text, matches ? { ...options, ifMatch: undefined } : options);
  };
}
