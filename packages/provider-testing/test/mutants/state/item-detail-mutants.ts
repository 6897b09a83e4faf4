import { AgentFrameworkError } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type Mutant, perWorld, stateMutant } from "../../support/mutant.ts";
import { onGet, onKeys, reprinted } from "./helpers.ts";

const created = perWorld(() => new Set<string>());
const written = perWorld(() => [] as string[]);
const deleted = perWorld(() => new Set<string>());
const refusedKeys = perWorld(() => new Set<string>());

/** Defects of items that only one look at them shows. */
export const itemDetailMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("declares no contract", ["S01"], () => JSON.parse('{"contractVersion":0}')),
  stateMutant("declares ttl in words", ["S01"], (store) => ({
    capabilities: JSON.parse(JSON.stringify({ ...store.capabilities, ttl: "yes" })),
  })),
  stateMutant("declares isolation in words", ["S01"], (store) => ({
    capabilities: JSON.parse(JSON.stringify({ ...store.capabilities, isolation: "yes" })),
  })),
  stateMutant("reads an unknown key as an empty object while it holds nothing", ["S02"], (store) => ({
    get: async (key, options) => {
      const item = await store.get(key, options);
      const { keys } = await store.listKeys({ owner: options?.owner });
      return item ?? (keys.length === 0 ? { key, text: "{}", etag: "0", tags: {} } : undefined);
    },
  })),
  stateMutant("reads an unknown key as the item beside it", ["S02"], (store) => ({
    get: async (key, options) => {
      const { keys } = await store.listKeys({ owner: options?.owner });
      return (await store.get(key, options)) ?? (keys[0] && store.get(keys[0].key, options));
    },
  })),
  stateMutant("lists a placeholder while it holds nothing", ["S02"], (store) =>
    onKeys(store, (keys) => (keys.length === 0 ? [{ key: "empty", etag: "0", tags: {} }] : keys)),
  ),
  stateMutant("gives with create another etag than it keeps", ["S02"], (store) => ({
    create: async (key, text, options) => ({ etag: `W/${(await store.create(key, text, options)).etag}` }),
  })),
  stateMutant("gives with set another etag than it keeps", ["S02"], (store) => ({
    set: async (key, text, options) => ({ etag: `W/${(await store.set(key, text, options)).etag}` }),
  })),
  stateMutant("gives items without tags one of its own", ["S02"], (store) => ({
    set: (key, text, options) => store.set(key, text, { ...options, tags: options?.tags ?? { kind: "none" } }),
  })),
  stateMutant("lists what create made, and not what set made", ["S02"], (store, world) => ({
    create: (key, text, options) => {
      created(world).add(key);
      return store.create(key, text, options);
    },
    ...onKeys(store, (keys) => keys.filter(({ key }) => created(world).has(key))),
  })),
  stateMutant("lists a key once for each write", ["S03"], (store, world) => ({
    set: (key, text, options) => {
      written(world).push(key);
      return store.set(key, text, options);
    },
    ...onKeys(store, (keys) => keys.flatMap((one) => written(world).flatMap((key) => (key === one.key ? [one] : [])))),
  })),
  stateMutant("says that it deleted what never was", ["S04"], (store, world) => ({
    set: (key, text, options) => {
      created(world).add(key);
      return store.set(key, text, options);
    },
    delete: async (key, options) => (await store.delete(key, options)) || !created(world).has(key),
  })),
  stateMutant("says that it deleted nothing when it did", ["S04"], (store) => ({
    delete: async (key, options) => {
      await store.delete(key, options);
      return false;
    },
  })),
  stateMutant("says that it deleted what was deleted already", ["S04"], (store, world) => ({
    delete: async (key, options) => {
      const isAgain = deleted(world).has(key);
      const isDone = await store.delete(key, options);
      deleted(world).add(isDone ? key : "");
      return isDone || isAgain;
    },
  })),
  stateMutant("takes what is deleted from its listing alone", ["S04"], (store, world) => ({
    delete: async (key, options) => {
      const isThere = (await store.get(key, options)) !== undefined && !deleted(world).has(key);
      deleted(world).add(key);
      return isThere;
    },
    ...onKeys(store, (keys) => keys.filter(({ key }) => !deleted(world).has(key))),
  })),
  stateMutant("goes on listing what is deleted", ["S04"], (store, world) => ({
    delete: async (key, options) => {
      const isDone = await store.delete(key, options);
      deleted(world).add(isDone ? key : "");
      return isDone;
    },
    ...onKeys(store, (keys) => [
      ...keys,
      ...[...deleted(world)].filter(Boolean).map((key) => ({ key, etag: "0", tags: {} })),
    ]),
  })),
  stateMutant("parses and prints what it creates", ["S05"], (store) => ({
    create: (key, text, options) => store.create(key, reprinted(text), options),
  })),
  stateMutant("parses and prints what it sets", ["S05"], (store) => ({
    set: (key, text, options) => store.set(key, reprinted(text), options),
  })),
  stateMutant("renews the etag before it looks at the text", ["S06"], (store) => ({
    set: async (key, text, options) => {
      const old = await store.get(key, { owner: options?.owner });
      await (old && store.set(key, old.text, { owner: options?.owner }));
      return store.set(key, text, options);
    },
  })),
  stateMutant("lists a key before it looks at the text", ["S06"], (store, world) => ({
    create: (key, text, options) => {
      refusedKeys(world).add(key);
      return store.create(key, text, options);
    },
    ...onKeys(store, (keys) => [...keys, ...[...refusedKeys(world)].map((key) => ({ key, etag: "0", tags: {} }))]),
  })),
  stateMutant("has a limit for what it sets, and none for what it creates", ["S07"], (_, world) => ({
    create: (key, text, options) => world.inner.create(key, text, options),
  })),
  stateMutant("empties the item before it looks at the size", ["S07"], (store) => ({
    set: async (key, text, options) => {
      await store.set(key, "{}", { owner: options?.owner });
      return store.set(key, text, options);
    },
  })),
  stateMutant("makes the item before it looks at the size", ["S07"], (store) => ({
    create: async (key, text, options) => {
      await store.create(key, "{}", options);
      return store.set(key, text, options);
    },
  })),
  stateMutant("cuts text off where its column ends", ["S07"], (store) =>
    onGet(store, (item) => ({ ...item, text: item.text.slice(0, store.capabilities.maxValueBytes / 4) })),
  ),
  stateMutant("says that it deleted nothing under a key beyond ASCII", ["S08"], (store) => ({
    delete: async (key, options) => (await store.delete(key, options)) && /^[ -~]*$/.test(key),
  })),
  stateMutant(
    "says that its server is busy when a key cannot be held",
    ["S08"],
    (store) => ({
      create: async (key, text, options) => {
        if (key.includes("\u0000")) {
          throw new AgentFrameworkError("unavailable", "the server is busy");
        }
        return store.create(key, text, options);
      },
    }),
    { rejects: "the server is busy" },
  ),
  stateMutant("reads a malformed key as absent", ["S09"], (store) => ({
    get: async (key, options) => (typeof key === "string" && key !== "" ? store.get(key, options) : undefined),
  })),
  stateMutant("says that it wrote what it did not, for its tags", ["S09"], (store) => ({
    set: (key, text, options) => store.set(key, text, options).catch((error: unknown) => tagsRefused(error)),
  })),
  stateMutant("makes the item before it looks at the tags", ["S09"], (store) => ({
    set: async (key, text, options) => {
      await store.set(key, text, { ...options, tags: undefined });
      return store.set(key, text, options);
    },
  })),
];

function tagsRefused(error: unknown): { etag: string } {
  if (error instanceof AgentFrameworkError && error.message.includes("tags")) {
    return { etag: "0" };
  }
  throw error;
}
