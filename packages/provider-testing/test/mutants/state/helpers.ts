import { AgentFrameworkError, type StateStore } from "@agentfw/core";

/** A store over keys that `change` has spoiled. */
export function withKeys(store: StateStore, change: (key: string) => string): Partial<StateStore> {
  return {
    create: (key, text, options) => store.create(change(key), text, options),
    set: (key, text, options) => store.set(change(key), text, options),
    get: async (key, options) => {
      const item = await store.get(change(key), options);
      return item && { ...item, key };
    },
    delete: (key, options) => store.delete(change(key), options),
  };
}

/** True for an error of the framework with one of these codes. */
export function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof AgentFrameworkError && codes.includes(error.code);
}
