import { isPlainObject } from "@agentfw/core";

/** The store, with methods that copy what they are given before they do anything else. */
export function copiesArguments<S extends object>(store: S): S {
  for (const [name, member] of Object.entries(store)) {
    if (typeof member === "function") {
      Reflect.set(store, name, (...given: unknown[]) => Reflect.apply(member, store, given.map(copied)));
    }
  }
  return store;
}

/** Plain objects and lists as they are now; anything else, such as a signal or what no store takes, is the same. */
export function copied(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(copied);
  }
  return isPlainObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copied(member)]))
    : value;
}
