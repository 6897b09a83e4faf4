import {
  AgentFrameworkError,
  type HistoryKey,
  type HistoryPage,
  type HistoryRecord,
  type HistoryStore,
  historyKeyText,
} from "@agentfw/core";
import type { HistoryWorld } from "../../support/reference-history.ts";

export const MARK = "\u0001";

/** What a broken comparison of ids is told: a record to store, and what is stored, oldest first. */
export type IsKnown = (record: HistoryRecord, stored: readonly HistoryRecord[], key: HistoryKey) => boolean;

/**
 * Takes the sound comparison of ids away and puts `isKnown` in its place, between a read and a write of their own.
 * Stored ids get a mark, so that nothing below compares them.
 */
export function dedupeBy(store: HistoryStore, isKnown: IsKnown): Partial<HistoryStore> {
  const read: HistoryStore["read"] = async (key, options) => {
    const page = await store.read(key, options);
    return { ...page, records: page.records.map(unmark), ...(page.first ? { first: unmark(page.first) } : {}) };
  };
  return {
    read,
    append: async (key, records, options) => {
      const { records: stored, version } = await read(key);
      const fresh = records.filter((record) => !isKnown(record, stored, key));
      if (fresh.length === 0) {
        return { version, appended: 0 };
      }
      const mark = `${MARK}${crypto.randomUUID()}`;
      const marked = fresh.map(({ id, data }) => ({ id: id === "" ? "" : `${id}${mark}`, data }));
      return store.append(key, marked, options);
    },
  };
}

function unmark({ id, data }: HistoryRecord): HistoryRecord {
  return { id: id.split(MARK)[0] ?? "", data };
}

/** A store over keys that `change` has spoiled. */
export function withKeys(store: HistoryStore, change: (key: HistoryKey) => HistoryKey): Partial<HistoryStore> {
  return {
    append: (key, records, options) => store.append(change(key), records, options),
    read: (key, options) => store.read(change(key), options),
    clear: (key, options) => store.clear(change(key), options),
    replace: async (key, range, records, options) =>
      store.replace?.(change(key), range, records, options) ?? { version: "" },
  };
}

/** A store that answers with the page that `change` makes of a sound one. */
export function withPages(
  store: HistoryStore,
  change: (page: HistoryPage, options: Parameters<HistoryStore["read"]>[1]) => HistoryPage,
): Partial<HistoryStore> {
  return { read: async (key, options) => change(await store.read(key, options), options) };
}

/** Replaces by rebuilding the list: what `rebuild` gives is stored instead of what was there. */
export function replaceBy(
  world: HistoryWorld,
  rebuild: (
    stored: readonly HistoryRecord[],
    from: number,
    through: number,
    records: readonly HistoryRecord[],
  ) => readonly HistoryRecord[],
): Partial<HistoryStore> {
  return {
    replace: async (key, { fromId, throughId }, records, options) =>
      world.call("write", options, async () => {
        const { records: stored, version } = await world.inner.read(key);
        const index = (id: string) => stored.findIndex((record) => record.id === id);
        const [from, through] = [index(fromId), index(throughId)];
        if (from < 0 || through < from || (options?.ifVersion ?? version) !== version) {
          throw new AgentFrameworkError("conflict", "the range is not stored", { currentVersion: version });
        }
        return world.inner.replace(
          key,
          { fromId: stored[0]?.id ?? "", throughId: stored.at(-1)?.id ?? "" },
          rebuild(stored, from, through, records),
        );
      }),
  };
}

/** An expiry beside the data, renewed by the calls that are named. */
export function expireBy(
  world: HistoryWorld,
  store: Required<HistoryStore>,
  expiresAt: Map<string, number>,
  renewedBy: readonly ("append" | "first append" | "read" | "replace")[],
): Partial<HistoryStore> {
  const lifeMs = (world.requested.ttlSeconds ?? Number.POSITIVE_INFINITY) * 1_000;
  const renew = (key: HistoryKey) => expiresAt.set(historyKeyText(key), world.now + lifeMs);
  const drop = async (key: HistoryKey) => {
    if ((expiresAt.get(historyKeyText(key)) ?? Number.POSITIVE_INFINITY) <= world.now) {
      expiresAt.delete(historyKeyText(key));
      await world.inner.clear(key);
    }
  };
  return {
    append: async (key, records, options) => {
      await drop(key);
      if (renewedBy.includes("append") || !expiresAt.has(historyKeyText(key))) {
        renew(key);
      }
      return store.append(key, records, options);
    },
    read: async (key, options) => {
      await drop(key);
      if (renewedBy.includes("read") && expiresAt.has(historyKeyText(key))) {
        renew(key);
      }
      return store.read(key, options);
    },
    replace: async (key, range, records, options) => {
      await drop(key);
      if (renewedBy.includes("replace")) {
        renew(key);
      }
      return store.replace(key, range, records, options);
    },
  };
}
