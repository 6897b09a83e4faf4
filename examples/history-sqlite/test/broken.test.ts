import type { HistoryStore } from "@agentfw/core";
import {
  clauseLine,
  historyStoreContract,
  type OpenedHistoryStore,
  type OpenOptions,
  runContract,
} from "@agentfw/provider-testing";
import type { Client } from "@libsql/client";
import { describe, expect, it } from "vitest";
import { SqliteHistoryStore, type SqliteHistoryStoreOptions } from "../src/index.ts";
import { rewriting } from "./broken/client.ts";
import { storeOf, type Variant, variants } from "./broken/variants.ts";
import { cannot, openClient, openWith } from "./open.ts";

describe.each(variants)("a store that $fault", (variant) => {
  it.each(Object.keys(variant.caughtBy))(
    "fails %s, which says what was seen",
    async (id) => {
      const clause = historyStoreContract.find((each) => each.id === id);
      const { clauses } = await runContract(
        "HistoryStore",
        historyStoreContract,
        { name: variant.fault, cannot, open: (options) => openVariant(variant, options) },
        { only: [id] },
      );
      const [result] = clauses;
      expect(result).toMatchObject({ id, outcome: "failed" });
      expect(result === undefined ? "" : clauseLine(result)).toContain(clause?.title);
      expect(result?.error?.message).toMatch(variant.caughtBy[id] ?? /never/);
    },
    60_000,
  );
});

/** Nothing but the fault is what the clauses of a variant find: over a client, the store itself holds to all of them. */
it("and the store without a fault holds to each of these clauses", async () => {
  const only = [...new Set(variants.flatMap(({ caughtBy }) => Object.keys(caughtBy)))];
  const sound: Variant = { fault: "none", caughtBy: {} };
  const report = await runContract(
    "HistoryStore",
    historyStoreContract,
    { name: "sound", cannot, open: (options) => openVariant(sound, options) },
    { only },
  );
  expect(report.tally).toMatchObject({ passed: only.length, failed: 0, notCovered: 0 });
}, 60_000);

async function openVariant(variant: Variant, options: OpenOptions = {}): Promise<OpenedHistoryStore> {
  const clients: Client[] = [];
  const make = async ({
    path,
    ...settings
  }: SqliteHistoryStoreOptions & { readonly path: string }): Promise<HistoryStore> => {
    if (clients.length === 0) {
      await prepare(variant, path);
    }
    const client = openClient(path);
    clients.push(client);
    return storeOf(variant, { ...settings, client: rewriting(client, variant.rewrites ?? []) });
  };
  const opened = await openWith(options, make);
  return {
    ...opened,
    close: async () => {
      await opened.close?.();
      for (const client of clients) {
        client.close();
      }
    },
  };
}

/** Makes the tables, and does to them what the variant asks for. */
async function prepare({ setup = [], rewrites = [] }: Variant, path: string): Promise<void> {
  const client = openClient(path);
  const store = new SqliteHistoryStore({ client: rewriting(client, rewrites) });
  await store.read({ owner: null, source: "-", session: "-" });
  for (const sql of setup) {
    await client.execute(sql);
  }
  client.close();
}
