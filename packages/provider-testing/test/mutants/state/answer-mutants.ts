import { AgentFrameworkError, type StateStore } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type Mutant, perWorld, stateMutant } from "../../support/mutant.ts";

const writes = perWorld(() => new Map<string, number>());
const firstTexts = perWorld(() => new Map<string, string>());
const lastEtags = perWorld(() => new Map<string, string>());
const everCreated = perWorld(() => new Set<string>());
const lasting = perWorld(() => new Map<string, string>());

/** The text as `JSON.stringify` has it, unless it is no JSON. */
function reprinted(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** A store that lists these keys too. */
function listing(store: StateStore, more: () => readonly string[]): Partial<StateStore> {
  return {
    listKeys: async (options) => {
      const page = await store.listKeys(options);
      const added = page.cursor === undefined ? more() : [];
      return { ...page, keys: [...page.keys, ...added.map((key) => ({ key, etag: "listed", tags: {} }))] };
    },
  };
}

/** Defects of what a store says of itself and of its items. */
const itemAnswerMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("declares no version of the contract", ["S01"], () => ({ contractVersion: JSON.parse("0") })),
  stateMutant("does not say whether items expire", ["S01"], (store) => ({
    capabilities: { ...store.capabilities, ttl: JSON.parse("null") },
  })),
  stateMutant("does not say whether owners are kept apart", ["S01"], (store) => ({
    capabilities: { ...store.capabilities, isolation: JSON.parse("null") },
  })),
  stateMutant("gives another etag for a create than it stored", ["S02"], (store) => ({
    create: async (key, text, options) => ({ etag: `${(await store.create(key, text, options)).etag}-created` }),
  })),
  stateMutant("gives another etag for a set than it stored", ["S02", "S14", "S17"], (store) => ({
    set: async (key, text, options) => ({ etag: `${(await store.set(key, text, options)).etag}-set` }),
  })),
  stateMutant("lists a row of its own", ["S02"], (store) => listing(store, () => ["schema-version"])),
  stateMutant("lists a key for each of its writes", ["S03"], (store, world) => {
    const counts = writes(world);
    return {
      ...listing(store, () => [...counts].flatMap(([key, count]) => Array.from({ length: count - 1 }, () => key))),
      set: async (key, text, options) => {
        const written = await store.set(key, text, options);
        counts.set(key, (counts.get(key) ?? 0) + 1);
        return written;
      },
    };
  }),
  stateMutant("lists what was deleted", ["S04"], (store) => {
    const gone: string[] = [];
    return {
      ...listing(store, () => gone),
      delete: async (key, options) => {
        const isDeleted = await store.delete(key, options);
        gone.push(...(isDeleted ? [key] : []));
        return isDeleted;
      },
    };
  }),
  stateMutant("prints the text that set is given anew", ["S05"], (store) => ({
    set: (key, text, options) => store.set(key, reprinted(text), options),
  })),
  stateMutant("prints the text that create is given anew", ["S05"], (store) => ({
    create: (key, text, options) => store.create(key, reprinted(text), options),
  })),
  stateMutant("looks at the size of what is set only", ["S07"], (store, world) => ({
    create: (key, text, options) =>
      typeof text === "string" && Buffer.byteLength(text) > store.capabilities.maxValueBytes
        ? world.inner.create(key, text, options)
        : store.create(key, text, options),
  })),
  stateMutant("brings back the text that was deleted under the key", ["S11"], (store, world) => {
    const texts = firstTexts(world);
    return {
      create: async (key, text, options) => {
        const created = await store.create(key, texts.get(key) ?? text, options);
        texts.set(key, texts.get(key) ?? text);
        return created;
      },
    };
  }),
  stateMutant("says the etag of an item that was deleted", ["S16"], (store, world) => {
    const etags = lastEtags(world);
    return {
      create: async (key, text, options) => {
        const created = await store.create(key, text, options);
        etags.set(key, created.etag);
        return created;
      },
      set: (key, text, options) =>
        store.set(key, text, options).catch((error: unknown) => {
          const currentVersion = etags.get(key);
          throw currentVersion === undefined
            ? error
            : new AgentFrameworkError("conflict", "another version", { provider: "reference", currentVersion });
        }),
    };
  }),
  stateMutant("does not say which etag is current when it deletes", ["S21"], (store) => ({
    delete: (key, options) =>
      store.delete(key, options).catch(() => {
        throw new AgentFrameworkError("conflict", "another version", { provider: "reference" });
      }),
  })),
];

/** Defects of what is found by tags, by owner and after time has passed. */
const findingMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("lists only the names that a path could have", ["S08"], (store) => ({
    listKeys: async (options) => {
      const page = await store.listKeys(options);
      return { ...page, keys: page.keys.filter(({ key }) => /^[\w:. -]+$/.test(key) || key.startsWith("item")) };
    },
  })),
  stateMutant("finds an item by the tags of its first write only", ["S22"], (store, world) => {
    const created = everCreated(world);
    return {
      create: async (key, text, options) => {
        created.add(key);
        return store.create(key, text, options);
      },
      listKeys: async (options) => {
        const page = await store.listKeys(options);
        return options?.tags === undefined ? page : { ...page, keys: page.keys.filter(({ key }) => !created.has(key)) };
      },
    };
  }),
  stateMutant("takes a tag that no item has for no filter", ["S23"], (store) => ({
    listKeys: async (options) => {
      const page = await store.listKeys(options);
      return page.keys.length > 0 || options?.tags === undefined
        ? page
        : store.listKeys({ ...options, tags: undefined, cursor: undefined });
    },
  })),
  stateMutant("reads nothing for an owner", ["S28"], (store) => ({
    get: async (key, options) => (typeof options?.owner === "string" ? undefined : store.get(key, options)),
  })),
  stateMutant("deletes for any owner what one of them has", ["S29"], (store) => ({
    delete: async (key, options) =>
      (await store.delete(key, options)) || (await store.delete(key, { ...options, owner: "alice" })),
  })),
  stateMutant("takes a ttlSeconds that makes no sense for none", ["S31"], () => ({}), {
    adjust: ({ ttlSeconds, ...rest }) => (Number(ttlSeconds) > 0 ? { ttlSeconds, ...rest } : rest),
  }),
  stateMutant("takes the expiry away with the second write", ["S32"], (store, world) => {
    const texts = lasting(world);
    return {
      set: async (key, text, options) => {
        const isThere = (await store.get(key)) !== undefined;
        const written = await store.set(key, text, options);
        if (isThere) {
          texts.set(key, text);
        }
        return written;
      },
      get: async (key, options) => {
        const item = await store.get(key, options);
        const text = texts.get(key);
        return item === undefined && text !== undefined ? { key, text, etag: "kept", tags: {} } : item;
      },
    };
  }),
  stateMutant("says that it deleted what had expired", ["S34"], (store, world) => {
    const created = everCreated(world);
    return {
      create: async (key, text, options) => {
        created.add(key);
        return store.create(key, text, options);
      },
      delete: async (key, options) => {
        const isDeleted = await store.delete(key, options);
        return created.delete(key) || isDeleted;
      },
    };
  }),
  stateMutant("lists what has expired", ["S34"], (store, world) => {
    const created = everCreated(world);
    return {
      ...listing(store, () => [...created]),
      create: async (key, text, options) => {
        created.add(key);
        return store.create(key, text, options);
      },
    };
  }),
  stateMutant("writes over an item that has expired under its etag", ["S34"], (store) => ({
    set: async (key, text, options) =>
      (await store.get(key)) === undefined && options?.ifMatch !== undefined
        ? store.set(key, text, { ...options, ifMatch: undefined })
        : store.set(key, text, options),
  })),
];

/** Every defect of what a store answers. */
export const answerMutants: readonly Mutant<OpenedStateStore>[] = [...itemAnswerMutants, ...findingMutants];
