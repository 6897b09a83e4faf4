import { AgentFrameworkError } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type Mutant, perWorld, stateMutant } from "../../support/mutant.ts";
import { busy, onGet, onKeys, unlessCode } from "./helpers.ts";

const firstTexts = perWorld(() => new Map<string, string>());
const lastSet = perWorld(() => new Map<string, string>());
const indexed = perWorld(() => new Set<string>());
const createdOnce = perWorld(() => new Set<string>());

/** Defects of conditional writes that only one look at them shows. */
export const conditionDetailMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("writes over what it refuses to create", ["S11", "S12", "S13"], (store) => ({
    create: (key, text, options) =>
      unlessCode(store.create(key, text, options), "conflict", async (error) => {
        await store.set(key, text, options);
        throw error;
      }),
  })),
  stateMutant("writes over what it refuses to set", ["S15", "S18", "S19"], (store) => ({
    set: (key, text, options) =>
      unlessCode(store.set(key, text, options), "conflict", async (error) => {
        await (error.currentVersion && store.set(key, text, { ...options, ifMatch: undefined }));
        throw error;
      }),
  })),
  stateMutant("takes a create of what is there for done", ["S11", "S12", "S13"], (store) => ({
    create: (key, text, options) =>
      unlessCode(store.create(key, text, options), "conflict", ({ currentVersion = "" }) => ({ etag: currentVersion })),
  })),
  stateMutant(
    "says of a lost race to create that its server is busy",
    ["S11", "S12", "S13"],
    (store) => ({
      create: (key, text, options) => unlessCode(store.create(key, text, options), "conflict", busy),
    }),
    { rejects: "the server is busy" },
  ),
  stateMutant(
    "says of a lost race to set that its server is busy",
    ["S15", "S18", "S19", "S20"],
    (store) => ({
      set: (key, text, options) => unlessCode(store.set(key, text, options), "conflict", busy),
    }),
    { rejects: "the server is busy" },
  ),
  stateMutant("reads the text of a deleted item in a new one", ["S11", "S34"], (store, world) => ({
    create: async (key, text, options) => {
      const result = await store.create(key, text, options);
      firstTexts(world).set(key, firstTexts(world).get(key) ?? text);
      return result;
    },
    ...onGet(store, (item) => ({ ...item, text: firstTexts(world).get(item.key) ?? item.text })),
  })),
  stateMutant("gives one etag for everything that it creates", ["S14"], (store) => ({
    create: async (key, text, options) => {
      await store.create(key, text, options);
      return { etag: "created" };
    },
  })),
  stateMutant("does not write the text again that it set last", ["S14"], (store, world) => ({
    create: (key, text, options) => {
      lastSet(world).delete(key);
      return store.create(key, text, options);
    },
    set: async (key, text, options) => {
      const item = await store.get(key, { owner: options?.owner });
      const isSame = lastSet(world).get(key) === text && item !== undefined;
      lastSet(world).set(key, text);
      return isSame ? { etag: item.etag } : store.set(key, text, options);
    },
  })),
  stateMutant("does not write the text again that it has just created", ["S14"], (store, world) => ({
    create: (key, text, options) => {
      lastSet(world).set(key, text);
      return store.create(key, text, options);
    },
    set: async (key, text, options) => {
      const item = await store.get(key, { owner: options?.owner });
      const isSame = lastSet(world).get(key) === text && item !== undefined;
      lastSet(world).delete(key);
      return isSame ? { etag: item.etag } : store.set(key, text, options);
    },
  })),
  stateMutant("reads the etag that an item had at first", ["S14"], (store) =>
    onGet(store, (item) => ({ ...item, etag: "1" })),
  ),
  stateMutant("gives the etag that it was asked for where there is no item", ["S16"], (store) => ({
    set: (key, text, options) =>
      unlessCode(store.set(key, text, options), "conflict", ({ currentVersion }) => {
        throw new AgentFrameworkError("conflict", "conflict", { currentVersion: currentVersion ?? options?.ifMatch });
      }),
  })),
  stateMutant("lists a key before it looks at the condition", ["S16"], (store, world) => ({
    set: (key, text, options) => {
      indexed(world).add(key);
      return store.set(key, text, options);
    },
    ...onKeys(store, (keys) => [
      ...keys,
      ...[...indexed(world)]
        .filter((key) => keys.every((one) => one.key !== key))
        .map((key) => ({ key, etag: "0", tags: {} })),
    ]),
  })),
  stateMutant("reads what a condition refused to make", ["S16"], (store, world) => ({
    set: (key, text, options) => {
      indexed(world).add(key);
      return store.set(key, text, options);
    },
    get: async (key, options) => {
      const item = await store.get(key, options);
      return item ?? (indexed(world).has(key) ? { key, text: "{}", etag: "0", tags: {} } : undefined);
    },
  })),
  stateMutant("gives * back as the etag", ["S17"], (store) => ({
    set: async (key, text, options) => {
      const { etag } = await store.set(key, text, options);
      return { etag: options?.ifMatch === "*" ? "*" : etag };
    },
  })),
  stateMutant("does not say which etag is current when it does not delete", ["S21"], (store) => ({
    delete: (key, options) =>
      unlessCode(store.delete(key, options), "conflict", () => {
        throw new AgentFrameworkError("conflict", "conflict");
      }),
  })),
  stateMutant("says that it deleted nothing under the right etag", ["S21"], (store) => ({
    delete: async (key, options) => (await store.delete(key, options)) && options?.ifMatch === undefined,
  })),
  stateMutant("says that it deleted again what is gone", ["S21"], (store) => ({
    delete: (key, options) =>
      unlessCode(store.delete(key, options), "conflict", (error) => {
        if (error.currentVersion === undefined) {
          return true;
        }
        throw error;
      }),
  })),
  stateMutant(
    "says that its server is busy when there is nothing to delete",
    ["S21"],
    (store) => ({
      delete: (key, options) =>
        unlessCode(store.delete(key, options), "conflict", (error) => {
          if (error.currentVersion === undefined) {
            return busy();
          }
          throw error;
        }),
    }),
    { rejects: "the server is busy" },
  ),
  stateMutant("says that it deleted under the right etag, and does not", ["S21"], (store, world) => ({
    delete: async (key, options) => {
      const item = await store.get(key, { owner: options?.owner });
      if (options?.ifMatch === undefined || item?.etag !== options.ifMatch) {
        return store.delete(key, options);
      }
      const isAgain = createdOnce(world).has(key);
      createdOnce(world).add(key);
      return !isAgain;
    },
  })),
];
