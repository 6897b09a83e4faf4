import { AgentFrameworkError, type HistoryKey, type HistoryStore } from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant, queue } from "../../support/mutant.ts";
import type { HistoryWorld } from "../../support/reference-history.ts";
import { withPages } from "./helpers.ts";

/** Defects of versions and of appends that depend on them. */
export const versionMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("gives the same version all the time", ["H34"], (store) => ({
    append: async (key, records, options) => ({ ...(await store.append(key, records, options)), version: "1" }),
    ...withPages(store, (page) => ({ ...page, version: page.version === "" ? "" : "1" })),
  })),
  historyMutant(
    "uses the number of records as the version",
    ["H35"],
    (store, world) => {
      const version = async (key: HistoryKey) => {
        const { records } = await world.inner.read(key);
        return records.length === 0 ? "" : String(records.length);
      };
      return {
        append: async (key, records, options) => {
          const result = await store.append(key, records, { ...options, ifVersion: undefined });
          return { ...result, version: await version(key) };
        },
        read: async (key, options) => ({ ...(await store.read(key, options)), version: await version(key) }),
      };
    },
    { spares: ["H24", "H30", "H34"] },
  ),
  historyMutant("ignores ifVersion without declaring it", ["H36"], (store) => ({
    capabilities: { ...store.capabilities, conditionalAppend: false },
    append: (key, records, options) => store.append(key, records, { ...options, ifVersion: undefined }),
  })),
  historyMutant(
    "declares conditionalAppend and refuses it",
    ["H36"],
    (store) => ({
      append: async (key, records, options) => {
        if (options?.ifVersion !== undefined) {
          throw new AgentFrameworkError("unsupported", "ifVersion");
        }
        return store.append(key, records, options);
      },
    }),
    { rejects: "ifVersion" },
  ),
  historyMutant(
    "ignores ifVersion though it declares it",
    ["H37"],
    (store) => ({
      append: (key, records, options) => store.append(key, records, { ...options, ifVersion: undefined }),
    }),
    { spares: ["H36", "H38"] },
  ),
  historyMutant("does not say which version is current", ["H37"], (store) => ({
    append: (key, records, options) =>
      store.append(key, records, options).catch((error: unknown) => {
        throw error instanceof AgentFrameworkError && error.code === "conflict"
          ? new AgentFrameworkError("conflict", "another writer came first")
          : error;
      }),
  })),
  historyMutant(
    "judges ifVersion before it looks at the ids",
    ["H38"],
    (_, world) => ({
      append: (key, records, options) =>
        world.call("write", options, async () => {
          await expectVersion(world, key, options?.ifVersion);
          return world.inner.append(key, records);
        }),
    }),
    { spares: ["H36", "H37", "H40"], rejects: "another writer came first" },
  ),
  historyMutant('takes the version "" for no condition', ["H39"], (store) => ({
    append: (key, records, options) =>
      store.append(key, records, { ...options, ifVersion: options?.ifVersion || undefined }),
  })),
  historyMutant(
    "compares the version before the write, not in it",
    ["H40"],
    (store) => ({
      append: checkThenAct(store),
    }),
    { spares: ["H36", "H37", "H39"] },
  ),
  historyMutant(
    "compares the version under a lock inside the process",
    ["H41"],
    (store) => {
      const inOrder = queue();
      const append = checkThenAct(store);
      return { append: (key, records, options) => inOrder(() => append(key, records, options)) };
    },
    { spares: ["H37", "H40"] },
  ),
];

async function expectVersion(world: HistoryWorld, key: HistoryKey, ifVersion: string | undefined): Promise<void> {
  const { version } = await world.inner.read(key);
  if (ifVersion !== undefined && ifVersion !== version) {
    throw new AgentFrameworkError("conflict", "another writer came first", { currentVersion: version });
  }
}

function checkThenAct(store: HistoryStore): HistoryStore["append"] {
  return async (key, records, options) => {
    const { records: stored, version } = await store.read(key);
    const ids = new Set(stored.map(({ id }) => id));
    const isRetry = Array.isArray(records) && records.every(({ id }) => ids.has(id));
    if (!isRetry && options?.ifVersion !== undefined && options.ifVersion !== version) {
      throw new AgentFrameworkError("conflict", "another writer came first", { currentVersion: version });
    }
    return store.append(key, records, { ...options, ifVersion: undefined });
  };
}
