import {
  AgentFrameworkError,
  InMemoryStateStore,
  type InMemoryStateStoreOptions,
  type StateStore,
} from "@agentfw/core";
import type { OpenedStateStore, OpenOptions } from "../../src/index.ts";
import { closable } from "./closable.ts";
import { copiesArguments } from "./copied.ts";
import { World } from "./world.ts";

/** A backend for state that can do everything the kit asks for. */
export class StateWorld extends World {
  readonly inner: InMemoryStateStore;
  isClientOpen = true;
  /** What the clause asked for, whatever the store behind it was given. */
  readonly requested: OpenOptions;

  constructor(options: InMemoryStateStoreOptions, requested: OpenOptions) {
    super();
    this.requested = requested;
    this.inner = new InMemoryStateStore({ ...options, now: () => this.now });
  }
}

/** A store over a world, as one process has it. */
export function referenceStateStore(world: StateWorld): StateStore & { close(): Promise<void> } {
  const { inner } = world;
  return closable(
    copiesArguments({
      contractVersion: 1,
      capabilities: { ...inner.capabilities, maxValueBytes: 1_200_000 },
      create: (key, text, options) =>
        world.call("write", options, async () => {
          assertSize(text);
          return inner.create(key, text, without(options));
        }),
      set: (key, text, options) =>
        world.call("write", options, async () => {
          assertSize(text);
          return inner.set(key, text, without(options));
        }),
      get: (key, options) => world.call("read", options, () => inner.get(key, without(options))),
      delete: (key, options) => world.call("write", options, () => inner.delete(key, without(options))),
      listKeys: (options) => world.call("read", options, () => inner.listKeys(without(options))),
    }),
  );
}

/** The options without the signal, which the call around them has taken. */
function without<T extends { readonly signal?: AbortSignal | undefined }>(options: T | undefined): T | undefined {
  return options === undefined ? undefined : { ...options, signal: undefined };
}

function assertSize(text: unknown): void {
  if (typeof text === "string" && Buffer.byteLength(text) > 1_200_000) {
    throw new AgentFrameworkError("too_large", "text: above the limit", { provider: "reference" });
  }
}

/** Opens stores that `make` builds over a world of their own. */
export function openStateWith(
  make: (world: StateWorld) => StateStore,
  adjust: (options: OpenOptions) => OpenOptions = (options) => options,
): (options?: OpenOptions) => Promise<OpenedStateStore> {
  return async (options = {}) => {
    const { timeoutMs = 5_000, ttlSeconds } = adjust(options);
    const world = new StateWorld({ ttlSeconds }, options);
    world.timeoutMs = timeoutMs;
    return {
      store: make(world),
      another: async () => make(world),
      ...world.hooks,
      sharedClient: async () => ({ store: make(world), isClientOpen: async () => world.isClientOpen }),
    };
  };
}
