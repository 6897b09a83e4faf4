import { AgentFrameworkError, type HistoryKey } from "@agentfw/core";
import type { OpenedHistoryStore } from "../../../src/index.ts";
import { historyMutant, type Mutant } from "../../support/mutant.ts";
import { withKeys, withPages } from "./helpers.ts";

const joined = (key: HistoryKey): HistoryKey => ({
  owner: null,
  source: "joined",
  // An empty session is refused further down, as it should be.
  session: key.session === "" ? "" : [key.owner ?? "", key.source, key.session].join(":"),
});

const session = (change: (session: string) => string) => (key: HistoryKey) => ({
  ...key,
  session: typeof key.session === "string" ? change(key.session) : key.session,
});

/** Defects of encodings and of clearing. */
export const keyMutants: readonly Mutant<OpenedHistoryStore>[] = [
  historyMutant("joins the parts of a key with a colon", ["H16"], (store) => withKeys(store, joined), {
    spares: ["H06", "H25"],
  }),
  historyMutant('takes no owner for the owner ""', ["H16"], (store) =>
    withKeys(store, (key) => ({ ...key, owner: key.owner === null ? "" : key.owner })),
  ),
  historyMutant("keeps sessions in a column of 255 characters", ["H15"], (store) =>
    withKeys(
      store,
      session((text) => text.slice(0, 255)),
    ),
  ),
  historyMutant("replaces what a file name cannot hold by an underscore", ["H15"], (store) =>
    withKeys(
      store,
      session((text) => text.replace(/[^\w.-]/g, "_")),
    ),
  ),
  historyMutant("keeps sessions under names without regard to case", ["H15"], (store) =>
    withKeys(
      store,
      session((text) => text.toLowerCase()),
    ),
  ),
  historyMutant("normalizes the Unicode form of sessions", ["H15"], (store) =>
    withKeys(
      store,
      session((text) => text.normalize("NFC")),
    ),
  ),
  historyMutant("encodes sessions as UTF-8 and loses lone surrogates", ["H15"], (store) =>
    withKeys(
      store,
      session((text) => text.toWellFormed()),
    ),
  ),
  historyMutant("keeps id and data in one text, apart by a bar", ["H17"], (store) =>
    withPages(store, (page) => ({
      ...page,
      records: page.records.map(({ id, data }) => ({ id: id.split("|")[0] ?? "", data })),
    })),
  ),
  historyMutant("compares ids without regard to case", ["H17"], (store) => ({
    append: async (key, records, options) => {
      const { records: stored } = await store.read(key);
      const ids = new Set(stored.map(({ id }) => id.toLowerCase()));
      const fresh = Array.isArray(records) ? records.filter(({ id }) => !ids.has(String(id).toLowerCase())) : records;
      return store.append(key, fresh, options);
    },
  })),
  historyMutant("uses the session as a key pattern when it clears", ["H49"], (store, world) => ({
    clear: async (key, options) => {
      await store.clear(key, options);
      const pattern = key.session
        .replace(/[\\^$.+()|{}]/g, "\\$&")
        .replace(/\*/g, ".*")
        .replace(/\?/g, ".");
      const expression = new RegExp(`^${pattern}$`);
      const { items } = await world.inner.list({ owner: key.owner, source: key.source });
      for (const item of items.filter((one) => expression.test(one.key.session))) {
        await world.inner.clear(item.key);
      }
    },
  })),
  historyMutant("uses the session as a SQL pattern when it clears", ["H49"], (store, world) => ({
    clear: async (key, options) => {
      await store.clear(key, options);
      const pattern = key.session
        .replace(/[\\^$.+()|{}*?[\]]/g, "\\$&")
        .replace(/%/g, ".*")
        .replace(/_/g, ".");
      const { items } = await world.inner.list({ owner: key.owner, source: key.source });
      for (const item of items.filter((one) => new RegExp(`^${pattern}$`).test(one.key.session))) {
        await world.inner.clear(item.key);
      }
    },
  })),
  historyMutant(
    "fails to clear what is not there",
    ["H02", "H50"],
    (store) => ({
      clear: async (key, options) => {
        const { version } = await store.read(key);
        if (version === "") {
          throw new AgentFrameworkError("not_found", "no such conversation");
        }
        await store.clear(key, options);
      },
    }),
    { rejects: "no such conversation" },
  ),
];
