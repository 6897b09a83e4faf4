import type { StateStore } from "@agentfw/core";
import type { OpenedStateStore } from "../../../src/index.ts";
import { type Mutant, stateMutant } from "../../support/mutant.ts";
import { isCode } from "./helpers.ts";

/** Does what comes after a call that was refused with one of these codes, and passes the refusal on. */
function onRefusal(
  store: StateStore,
  codes: readonly string[],
  then: (method: "create" | "set" | "delete", key: string) => Promise<unknown>,
): Partial<StateStore> {
  const watch = async <T>(method: "create" | "set" | "delete", key: string, call: Promise<T>): Promise<T> => {
    try {
      return await call;
    } catch (error) {
      if (isCode(error, ...codes)) {
        await then(method, key);
      }
      throw error;
    }
  };
  return {
    create: (key, text, options) => watch("create", key, store.create(key, text, options)),
    set: (key, text, options) => watch("set", key, store.set(key, text, options)),
    delete: (key, options) => watch("delete", key, store.delete(key, options)),
  };
}

/** Defects of calls that are refused and have done something all the same. */
const refusedMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("counts a version for text that it refuses", ["S06"], (store) =>
    onRefusal(store, ["configuration"], async (_, key) => {
      const item = await store.get(key);
      return item && store.set(key, item.text);
    }),
  ),
  stateMutant("leaves a row behind for text that it refuses", ["S06"], (store) =>
    onRefusal(store, ["configuration"], (_, key) => store.set(`${key}-draft`, "{}")),
  ),
  stateMutant("deletes what was there when the new text is too large", ["S07"], (store) =>
    onRefusal(store, ["too_large"], async (method, key) => method === "set" && store.delete(key)),
  ),
  stateMutant("makes an empty item when the text is too large", ["S07"], (store) =>
    onRefusal(store, ["too_large"], async (method, key) => method === "create" && store.set(key, "{}")),
  ),
  stateMutant("overwrites, and then says that the key is taken", ["S11"], (store) => ({
    create: async (key, text, options) => {
      try {
        return await store.create(key, text, options);
      } catch (error) {
        await store.set(key, text);
        throw error;
      }
    },
  })),
  stateMutant("counts a version for a write that it refuses", ["S15"], (store) =>
    onRefusal(store, ["conflict"], async (_, key) => {
      const item = await store.get(key);
      return item && store.set(key, item.text);
    }),
  ),
  stateMutant("creates the item, and then says that there is none", ["S16"], (store) =>
    onRefusal(store, ["conflict"], async (method, key) =>
      method === "set" && (await store.get(key)) === undefined ? store.set(key, "{}") : undefined,
    ),
  ),
  stateMutant("deletes, and then says that the item is another version", ["S21"], (store) =>
    onRefusal(store, ["conflict"], async (method, key) => method === "delete" && store.delete(key)),
  ),
  stateMutant("writes though the signal is aborted, and then says that it was", ["S40"], (store, world) => ({
    set: async (key, text, options) => {
      if (options?.signal?.aborted) {
        await world.inner.set(key, text);
      }
      return store.set(key, text, options);
    },
  })),
  stateMutant("creates though the signal is aborted, and then says that it was", ["S40"], (store, world) => ({
    create: async (key, text, options) => {
      if (options?.signal?.aborted) {
        await world.inner.create(`${key}-aborted`, text);
      }
      return store.create(key, text, options);
    },
  })),
];

/** Defects of calls that say that they were done, and are not. */
const notDoneMutants: readonly Mutant<OpenedStateStore>[] = [
  stateMutant("writes nothing under the current etag", ["S15"], (store) => ({
    set: async (key, text, options) => {
      const item = await store.get(key);
      return item !== undefined && options?.ifMatch === item.etag ? { etag: item.etag } : store.set(key, text, options);
    },
  })),
  stateMutant("says that nothing was deleted when it was", ["S04"], (store) => ({
    delete: async (key, options) => {
      await store.delete(key, options);
      return false;
    },
  })),
  stateMutant("says that a conditional delete deleted nothing when it did", ["S21"], (store) => ({
    delete: async (key, options) => (await store.delete(key, options)) && options?.ifMatch === undefined,
  })),
  stateMutant("says that a conditional delete of nothing deleted", ["S21"], (store) => ({
    delete: async (key, options) => {
      try {
        return (await store.delete(key, options)) || options?.ifMatch !== undefined;
      } catch (error) {
        if (isCode(error, "conflict") && (await store.get(key)) === undefined) {
          return true;
        }
        throw error;
      }
    },
  })),
  stateMutant("deletes everything that it holds", ["S04"], (store) => ({
    delete: async (key, options) => {
      const isThere = await store.delete(key, options);
      const { keys } = await store.listKeys();
      await Promise.all(keys.map((one) => store.delete(one.key)));
      return isThere;
    },
  })),
  stateMutant("takes * in a key that is deleted for a pattern", ["S08"], (store) => ({
    delete: async (key, options) => {
      const isThere = await store.delete(key, options);
      const { keys } = await store.listKeys();
      await Promise.all(key === "*" ? keys.map((one) => store.delete(one.key)) : []);
      return isThere;
    },
  })),
];

/** Every defect of calls that do not do what they say. */
export const halfDoneMutants: readonly Mutant<OpenedStateStore>[] = [...refusedMutants, ...notDoneMutants];
