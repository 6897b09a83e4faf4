import { AgentFrameworkError } from "@agentfw/core";

/** What a call behind `close` rejects with. */
export const closedError = (): AgentFrameworkError =>
  new AgentFrameworkError("configuration", "called after close()", { provider: "reference" });

/** The store with a `close`, after which all of its methods refuse to be called. */
export function closable<S extends object>(store: S): S & { close(): Promise<void> } {
  let isClosed = false;
  for (const [name, member] of Object.entries(store)) {
    if (typeof member === "function") {
      Reflect.set(store, name, (...given: unknown[]) =>
        isClosed ? Promise.reject(closedError()) : Reflect.apply(member, store, given),
      );
    }
  }
  return Object.assign(store, {
    close: async () => {
      isClosed = true;
    },
  });
}

/** What takes the place of members of a closable store, which `change` may make depend on whether it is closed by then. */
export function closing<S extends { close?(): Promise<void> }>(
  store: S,
  change: (isClosed: () => boolean) => Partial<S>,
): Partial<S> & { close(): Promise<void> } {
  let isClosed = false;
  const changed = change(() => isClosed);
  return {
    ...changed,
    close: async () => {
      await changed.close?.();
      await store.close?.();
      isClosed = true;
    },
  };
}
