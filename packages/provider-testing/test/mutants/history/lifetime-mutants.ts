import { historyKeyText } from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import {
  historyMutant,
  type Mutant,
  type MutantOptions,
  perWorld,
  withoutMaxRecords,
  withoutTtl,
} from "../../support/mutant.ts";
import type { HistoryWorld } from "../../support/reference-history.ts";
import { turn } from "../../support/world.ts";
import { dedupeBy, expireBy } from "./helpers.ts";

const expiries = perWorld(() => new Map<string, number>());
const births = perWorld(() => new Map<string, number>());

function lifeMs(world: HistoryWorld): number {
  return (world.requested.ttlSeconds ?? Number.POSITIVE_INFINITY) * 1_000;
}

const spareValues: MutantOptions = {
  // Values that make no sense are still refused by the store behind the defect.
  adjust: ({ ttlSeconds, ...rest }) => (ttlSeconds === undefined || ttlSeconds > 0 ? rest : { ...rest, ttlSeconds }),
};

/** Defects of expiry and of the limit on records. */
export const lifetimeMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("ignores ttlSeconds though it declares ttl", ["H67", "H68", "H70"], () => ({}), withoutTtl),
  historyMutant("takes ttlSeconds without declaring ttl", ["H67"], (store) => ({
    capabilities: { ...store.capabilities, ttl: false },
  })),
  historyMutant("takes any ttlSeconds", ["H67"], () => ({}), {
    adjust: ({ ttlSeconds, ...rest }) => (ttlSeconds !== undefined && ttlSeconds > 0 ? { ...rest, ttlSeconds } : rest),
  }),
  historyMutant(
    "sets the expiry with the first write only",
    ["H68", "H72"],
    (store, world) => expireBy(world, store, expiries(world), ["first append"]),
    { ...spareValues, spares: ["H67", "H70"] },
  ),
  historyMutant(
    "gives each record an expiry of its own",
    ["H68"],
    (store, world) => ({
      append: async (key, records, options) => {
        for (const { id } of Array.isArray(records) ? records : []) {
          births(world).set(`${historyKeyText(key)} ${id}`, world.now);
        }
        return store.append(key, records, options);
      },
      read: async (key, options) => {
        const page = await store.read(key, options);
        const isAlive = (id: string) =>
          (births(world).get(`${historyKeyText(key)} ${id}`) ?? world.now) + lifeMs(world) > world.now;
        const records = page.records.filter(({ id }) => isAlive(id));
        return { ...page, records, version: records.length === 0 ? "" : page.version };
      },
    }),
    { ...spareValues, spares: ["H67"] },
  ),
  historyMutant(
    "renews with appends and not with replaces",
    ["H69"],
    (store, world) => expireBy(world, store, expiries(world), ["append"]),
    { ...spareValues, spares: ["H67", "H68", "H70", "H71", "H72"] },
  ),
  historyMutant(
    "renews with each read",
    ["H70"],
    (store, world) => expireBy(world, store, expiries(world), ["append", "read", "replace"]),
    { ...spareValues, spares: ["H67", "H69", "H72"] },
  ),
  historyMutant(
    "hides what is expired and goes on with it at the next append",
    ["H71"],
    (store, world) => ({
      append: async (key, records, options) => {
        expiries(world).set(historyKeyText(key), world.now + lifeMs(world));
        return store.append(key, records, options);
      },
      read: async (key, options) => {
        const isExpired = (expiries(world).get(historyKeyText(key)) ?? Number.POSITIVE_INFINITY) <= world.now;
        return isExpired ? { records: [], version: "" } : store.read(key, options);
      },
    }),
    { ...spareValues, spares: ["H67", "H68", "H72"] },
  ),
  historyMutant(
    "gives the ids of records an expiry that nothing renews",
    ["H72"],
    (store, world) =>
      dedupeBy(store, ({ id }, stored, key) => {
        const name = `${historyKeyText(key)} ${id}`;
        const isKnown =
          stored.some((one) => one.id === id) && (births(world).get(name) ?? world.now) + lifeMs(world) > world.now;
        births(world).set(name, isKnown ? (births(world).get(name) ?? world.now) : world.now);
        return isKnown;
      }),
    { spares: ["H27", "H67", "H68"] },
  ),
  historyMutant("lists what is expired until someone reads it", ["H73"], (_, world) => ({
    list: async (filter, options) => {
      const now = world.now;
      // The list is as old as the last sweep.
      world.now = Math.min(now, 1_700_000_000_000);
      const page = await world.inner.list(filter, { limit: options?.limit, cursor: options?.cursor });
      world.now = now;
      return page;
    },
  })),
  historyMutant("ignores maxRecords though it declares it", ["H74", "H75", "H76"], () => ({}), withoutMaxRecords),
  historyMutant("keeps everything where maxRecords is 0", ["H74"], () => ({}), {
    adjust: ({ maxRecords, ...rest }) => (maxRecords === 0 ? rest : { ...rest, maxRecords }),
    spares: ["H75"],
  }),
  historyMutant("takes maxRecords without declaring it", ["H74"], (store) => ({
    capabilities: { ...store.capabilities, maxRecords: false },
  })),
  historyMutant(
    "keeps the oldest records and drops what is too much",
    ["H74", "H75"],
    (store, world) => ({
      append: async (key, records, options) => {
        const { records: stored } = await world.inner.read(key);
        const room = (world.requested.maxRecords ?? Number.POSITIVE_INFINITY) - stored.length;
        const result = await store.append(key, records.slice(0, Math.max(0, room)), options);
        return { ...result, appended: records.length };
      },
    }),
    withoutMaxRecords,
  ),
  historyMutant(
    "trims in a step after the append",
    ["H76"],
    (store, world) => ({
      append: async (key, records, options) => {
        const { appended } = await store.append(key, records, options);
        await turn();
        return { version: await trim(world, key), appended };
      },
    }),
    { adjust: sparedMaxRecords, spares: ["H74", "H75"] },
  ),
  historyMutant(
    "trims with appends and not with replaces",
    ["H77"],
    (store, world) => ({
      append: async (key, records, options) => {
        const { appended } = await store.append(key, records, options);
        return { version: await trim(world, key), appended };
      },
    }),
    { adjust: sparedMaxRecords, spares: ["H74", "H75"] },
  ),
];

async function trim(world: HistoryWorld, key: Parameters<typeof historyKeyText>[0]): Promise<string> {
  const { records, version } = await world.inner.read(key);
  const excess = records.length - (world.requested.maxRecords ?? Number.POSITIVE_INFINITY);
  if (excess <= 0) {
    return version;
  }
  const range = { fromId: records[0]?.id ?? "", throughId: records[excess - 1]?.id ?? "" };
  return (await world.inner.replace(key, range, [])).version;
}

function sparedMaxRecords(options: HistoryWorld["requested"]): HistoryWorld["requested"] {
  const { maxRecords, ...rest } = options;
  return maxRecords === undefined || (Number.isInteger(maxRecords) && maxRecords >= 0) ? rest : options;
}
