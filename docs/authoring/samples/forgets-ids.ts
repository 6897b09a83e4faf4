// A store with a fault, for the report that page 4 shows: an append that is sent again is stored again, under other ids.
import { type HistoryStore, InMemoryHistoryStore } from "@agentfw/core";
import type { OpenedHistoryStore } from "@agentfw/provider-testing";

export const name = "history-sqlite";

export async function openHistoryStore(): Promise<OpenedHistoryStore> {
  const memory = new InMemoryHistoryStore();
  const seen = new Set<string>();
  const store: HistoryStore = {
    contractVersion: 1,
    capabilities: { ...memory.capabilities, replace: false, list: false, ttl: false, maxRecords: false },
    read: (key, options) => memory.read(key, options),
    clear: (key, options) => memory.clear(key, options),
    append: (key, records, options) => {
      const stored = records.map(({ id, data }) => ({ id: seen.has(id) ? `${id}, again` : id, data }));
      for (const { id } of records) {
        seen.add(id);
      }
      return memory.append(key, stored, options);
    },
  };
  return { store };
}
