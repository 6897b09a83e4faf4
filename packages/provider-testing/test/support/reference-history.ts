import {
  AgentFrameworkError,
  type HistoryCapabilities,
  type HistoryKey,
  type HistoryPage,
  type HistoryStore,
  historyKeyText,
  InMemoryHistoryStore,
  type InMemoryHistoryStoreOptions,
  type ReadOptions,
} from "@agentfw/core";
import type { OpenedHistoryStore, OpenOptions } from "../../src/index.ts";
import { closable } from "./closable.ts";
import { copiesArguments } from "./copied.ts";
import { World } from "./world.ts";

/** A backend for histories that can do everything the kit asks for. */
export class HistoryWorld extends World {
  readonly inner: InMemoryHistoryStore;
  /** Ids of unreadable records, by conversation. */
  readonly corrupted: Map<string, Set<string>> = new Map();
  isClientOpen = true;
  /** What the clause asked for, whatever the store behind it was given. */
  readonly requested: OpenOptions;

  constructor(options: InMemoryHistoryStoreOptions, requested: OpenOptions) {
    super();
    this.requested = requested;
    this.inner = new InMemoryHistoryStore({ ...options, now: () => this.now });
  }
}

/** Declares everything, with a limit small enough to be reached. */
export const ALL_CAPABILITIES: HistoryCapabilities = {
  dedupe: "all",
  processes: "many",
  conditionalAppend: true,
  replace: true,
  list: true,
  ttl: true,
  maxRecords: true,
  maxRecordBytes: 1_200_000,
};

/** A store over a world, as one process has it. */
export function referenceHistoryStore(world: HistoryWorld): Required<HistoryStore> {
  const { inner } = world;
  const store: Required<Omit<HistoryStore, "close">> = copiesArguments({
    contractVersion: 1,
    capabilities: ALL_CAPABILITIES,
    append: async (key, records, options) => {
      assertSizes(records);
      return world.call("write", options, () => inner.append(key, records, { ifVersion: options?.ifVersion }));
    },
    read: (key, options) => world.call("read", options, () => readSound(world, key, options)),
    clear: (key, options) =>
      world.call("write", options, async () => {
        await inner.clear(key);
        world.corrupted.delete(historyKeyText(key));
      }),
    replace: async (key, range, records, options) => {
      assertSizes(records);
      return world.call("write", options, () => inner.replace(key, range, records, { ifVersion: options?.ifVersion }));
    },
    list: (filter, options) =>
      world.call("read", options, () => inner.list(filter, { limit: options?.limit, cursor: options?.cursor })),
  });
  return closable(store);
}

function assertSizes(records: unknown): void {
  const sizes = Array.isArray(records) ? records.map((record) => Buffer.byteLength(String(record?.data))) : [];
  if (sizes.some((size) => size > ALL_CAPABILITIES.maxRecordBytes)) {
    throw new AgentFrameworkError("too_large", "records: above the limit", { provider: "reference" });
  }
}

async function readSound(world: HistoryWorld, key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
  const { last, before, withFirst, onCorrupt } = options;
  const page = await world.inner.read(key, { last, before, withFirst, onCorrupt });
  const bad = world.corrupted.get(historyKeyText(key)) ?? new Set();
  const corrupt = page.records.filter(({ id }) => bad.has(id)).map(({ id }) => `record ${id}`);
  if (corrupt.length === 0) {
    return page;
  }
  if (onCorrupt !== "skip") {
    throw new AgentFrameworkError("corrupt", "a stored record cannot be read", {
      provider: "reference",
      position: corrupt[0],
    });
  }
  return { ...page, records: page.records.filter(({ id }) => !bad.has(id)), corrupt };
}

/** Opens stores that `make` builds over a world of their own. */
export function openHistoryWith(
  make: (world: HistoryWorld) => HistoryStore,
  adjust: (options: OpenOptions) => OpenOptions = (options) => options,
): (options?: OpenOptions) => Promise<OpenedHistoryStore> {
  return async (options = {}) => {
    const { timeoutMs = 5_000, ...rest } = adjust(options);
    const world = new HistoryWorld(rest, options);
    world.timeoutMs = timeoutMs;
    const store = make(world);
    return {
      store,
      another: async () => make(world),
      ...world.hooks,
      corrupt: async (key, position) => {
        const { records } = await world.inner.read(key);
        const text = historyKeyText(key);
        const id = records[position]?.id ?? "";
        world.corrupted.set(text, (world.corrupted.get(text) ?? new Set<string>()).add(id));
      },
      sharedClient: async () => ({ store: make(world), isClientOpen: async () => world.isClientOpen }),
    };
  };
}
