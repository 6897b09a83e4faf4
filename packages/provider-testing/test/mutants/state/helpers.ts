import {
  AgentFrameworkError,
  type ErrorCode,
  type StateItem,
  type StateKey,
  type StateListOptions,
  type StateStore,
} from "@agentfw/core";

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

/** A store whose items are read as `change` makes them. */
export function onGet(store: StateStore, change: (item: StateItem) => StateItem): Partial<StateStore> {
  return {
    get: async (key, options) => {
      const item = await store.get(key, options);
      return item && change(item);
    },
  };
}

/** A store whose pages hold the keys that `change` makes of them. */
export function onKeys(
  store: StateStore,
  change: (keys: readonly StateKey[], options: StateListOptions | undefined) => readonly StateKey[],
): Partial<StateStore> {
  return {
    listKeys: async (options) => {
      const page = await store.listKeys(options);
      return { ...page, keys: change(page.keys, options) };
    },
  };
}

/** The text as a store that parses and prints it gives it. */
export function reprinted(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** What the call gives, or what `instead` makes of an error with this code. */
export async function unlessCode<T>(
  call: Promise<T>,
  code: ErrorCode,
  instead: (error: AgentFrameworkError) => T | Promise<T>,
): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof AgentFrameworkError && error.code === code) {
      return instead(error);
    }
    throw error;
  }
}

/** Fails as a server does that could not be reached. */
export function busy(): never {
  throw new AgentFrameworkError("unavailable", "the server is busy");
}
