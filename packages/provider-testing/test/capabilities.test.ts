import { AgentFrameworkError, type HistoryStore, type StateStore } from "@agentfw/core";
import { expect, test } from "vitest";
import { historyStoreContract, type OpenOptions, runContract, stateStoreContract } from "../src/index.ts";
import { type HistoryWorld, openHistoryWith, referenceHistoryStore } from "./support/reference-history.ts";
import { openStateWith, referenceStateStore, type StateWorld } from "./support/reference-state.ts";

function refuse(what: string): never {
  throw new AgentFrameworkError("unsupported", what);
}

function refuseOptions({ ttlSeconds, maxRecords, ...rest }: OpenOptions): OpenOptions {
  return ttlSeconds === undefined && maxRecords === undefined ? rest : refuse("ttlSeconds, maxRecords");
}

/** Can only do what every store must. */
function plainHistoryStore(world: HistoryWorld): HistoryStore {
  const { replace: _, list: __, ...store } = referenceHistoryStore(world);
  return {
    ...store,
    capabilities: {
      ...store.capabilities,
      dedupe: 1_000,
      processes: "one",
      conditionalAppend: false,
      replace: false,
      list: false,
      ttl: false,
      maxRecords: false,
    },
    append: async (key, records, options) =>
      options?.ifVersion === undefined ? store.append(key, records, options) : refuse("ifVersion"),
  };
}

function plainStateStore(world: StateWorld): StateStore {
  const store = referenceStateStore(world);
  const owned = (options: { readonly owner?: string | null | undefined } | undefined) =>
    options?.owner === undefined || options.owner === null ? undefined : refuse("owner");
  return {
    ...store,
    capabilities: { ...store.capabilities, ttl: false, isolation: false },
    create: async (key, text, options) => owned(options) ?? store.create(key, text, options),
    set: async (key, text, options) => owned(options) ?? store.set(key, text, options),
    get: async (key, options) => owned(options) ?? store.get(key, options),
    delete: async (key, options) => owned(options) ?? store.delete(key, options),
    listKeys: async (options) => owned(options) ?? store.listKeys(options),
  };
}

test.concurrent("a history store that declares nothing optional passes, and what it does not declare is told", async () => {
  const report = await runContract("HistoryStore", historyStoreContract, {
    name: "plain",
    open: openHistoryWith(plainHistoryStore, refuseOptions),
  });
  expect(report.clauses.filter(({ outcome }) => outcome === "failed")).toEqual([]);
  const open = report.clauses.filter(({ outcome }) => outcome === "not covered");
  expect(open.map(({ reason }) => reason)).toEqual(
    open.map(() => expect.stringMatching(/^the store does not declare /)),
  );
  const tied = historyStoreContract.filter(({ requires }) => (requires?.capabilities?.length ?? 0) > 0);
  expect(open.map(({ id }) => id)).toEqual(tied.map(({ id }) => id));
});

test.concurrent("a state store that declares nothing optional passes, and what it does not declare is told", async () => {
  const report = await runContract("StateStore", stateStoreContract, {
    name: "plain",
    open: openStateWith(plainStateStore, refuseOptions),
  });
  expect(report.clauses.filter(({ outcome }) => outcome === "failed")).toEqual([]);
  expect(report.clauses.filter(({ outcome }) => outcome === "not covered").map(({ id }) => id)).toEqual([
    "S29",
    "S30",
    "S32",
    "S33",
    "S34",
  ]);
});

test("an open() that ignores an option of an undeclared capability is found out", async () => {
  const suite = { name: "silent", open: openHistoryWith(plainHistoryStore, ({ timeoutMs }) => ({ timeoutMs })) };
  const report = await runContract("HistoryStore", historyStoreContract, suite, { only: ["H67", "H74"] });
  expect(report.clauses.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(["H67 failed", "H74 failed"]);
});
