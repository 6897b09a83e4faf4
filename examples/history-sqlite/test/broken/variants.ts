import type { HistoryStore } from "@agentfw/core";
import type { Client } from "@libsql/client";
import { SqliteHistoryStore, type SqliteHistoryStoreOptions } from "../../src/index.ts";
import type { Rewrites } from "./client.ts";
import * as stores from "./stores.ts";

/** A store with one fault that real stores have had, and what the contract says to it. */
export interface Variant {
  /** What it does: "a store that ...". */
  readonly fault: string;
  readonly store?: new (settings: SqliteHistoryStoreOptions & { readonly client: Client }) => HistoryStore;
  readonly rewrites?: Rewrites;
  /** Done to the database once its tables are there. */
  readonly setup?: readonly string[];
  /** The clauses that fail, and what each says was seen. */
  readonly caughtBy: Readonly<Record<string, RegExp>>;
}

const EVERY_RECORD_ONCE: Rewrites = [
  ["PRIMARY KEY (conversation, id)\n  ) WITHOUT ROWID", "CHECK (true)\n  )"],
  ["UNIQUE (conversation, position),\n    UNIQUE (conversation, id)", "UNIQUE (conversation, position)"],
];

export const variants: readonly Variant[] = [
  {
    fault: "reads an outage as an empty conversation",
    store: stores.OutageReadsAsEmpty,
    caughtBy: {
      H08: /read during an outage: must reject with unavailable or .*; it resolved with .*"version":""/,
      H10: /read during an outage: must reject with unavailable/,
    },
  },
  {
    fault: "remembers that its first connection failed",
    store: stores.RemembersItsFirstFailure,
    caughtBy: { H10: /the database file is gone/ },
  },
  {
    fault: "gives the number of a cleared conversation to the next one, and its versions with it",
    rewrites: [[" AUTOINCREMENT", ""]],
    caughtBy: { H35: /a version of an earlier life does not come back/ },
  },
  {
    fault: "has no unique index over the ids, so that a turn whose answer was lost is stored twice",
    rewrites: EVERY_RECORD_ONCE,
    caughtBy: {
      H27: /appended of a repeated append: expected 0, got 2/,
      H28: /appended of a partly stored append: expected 2, got 3/,
      H32: /exactly one of the equal appends adds its records/,
    },
  },
  {
    fault: "writes the records of a turn one by one",
    store: stores.RecordByRecord,
    caughtBy: {
      H06: /a batch must stay together/,
      H51: /a batch must stay together/,
    },
  },
  {
    fault: "writes a large append in parts, each a transaction",
    store: stores.ThousandByThousand,
    caughtBy: { H05: /none of a refused append is stored .* got 14000/ },
  },
  {
    fault: "puts all records into one statement, which takes 32,766 parameters",
    store: stores.AllInOneStatement,
    caughtBy: { H05: /append failed/ },
  },
  {
    fault: "orders by a clock, and by id where the clock did not move",
    rewrites: [
      ["data TEXT NOT NULL,", "data TEXT NOT NULL, at INTEGER NOT NULL DEFAULT (unixepoch()),"],
      ["ORDER BY position DESC LIMIT :limit", "ORDER BY at DESC, id DESC LIMIT :limit"],
    ],
    caughtBy: { H03: /all appends in their order/ },
  },
  {
    fault: "compares the version before the write, not in it",
    store: stores.LooksBeforeItWrites,
    caughtBy: {
      H40: /the number of appends that won under version "": expected 1, got 20/,
      H41: /the number of appends that won under version "": expected 1, got 20/,
    },
  },
  {
    fault: "clears every session that the session matches as a pattern",
    store: stores.ClearsByPattern,
    caughtBy: { H49: /bystander .* after all clears .* expected 2 items and got 0/ },
  },
  {
    fault: "keeps sessions as the driver takes them: cut at NUL, lone surrogates replaced",
    store: stores.SessionsAsTheDriverTakesThem,
    caughtBy: { H15: /a key leads to a conversation of its own; got .*a\\u0000b/ },
  },
  {
    fault: "compares sessions without regard to case",
    rewrites: [["session TEXT NOT NULL,", "session TEXT NOT NULL COLLATE NOCASE,"]],
    caughtBy: { H15: /a key leads to a conversation of its own; got .*"A"/ },
  },
  {
    fault: "trims in a step after the append",
    store: stores.TrimsAfterwards,
    caughtBy: { H76: /a reader sees at most 10 records; got 1[1-9]/ },
  },
  {
    fault: "gives each record an expiry of its own",
    setup: [
      `CREATE TRIGGER agentfw_expiry AFTER UPDATE OF expires_at ON agentfw_conversations BEGIN
        UPDATE agentfw_records SET expires_at = new.expires_at WHERE conversation = new.number AND expires_at IS NULL;
      END`,
    ],
    rewrites: [
      ["data TEXT NOT NULL,", "data TEXT NOT NULL, expires_at INTEGER,"],
      [
        "ORDER BY position DESC LIMIT :limit",
        "AND coalesce(expires_at, :now + 1) > :now ORDER BY position DESC LIMIT :limit",
      ],
    ],
    caughtBy: { H68: /expected 4 items and got 2; .* expected "turn-0-0", got "turn-1-0"/ },
  },
  {
    fault: "counts its cursor from the end",
    store: stores.CountsFromTheEnd,
    caughtBy: { H45: /the records that were there when paging began/ },
  },
  {
    fault: "leaves out what it cannot read",
    store: stores.SkipsWhatItCannotRead,
    caughtBy: {
      H82: /a page with a corrupt record: must reject with corrupt; it resolved/,
      H83: /the number of reported positions: expected 1, got undefined/,
    },
  },
];

/** The store of a variant over a client. */
export function storeOf(
  { store: Store = SqliteHistoryStore }: Variant,
  settings: SqliteHistoryStoreOptions & { readonly client: Client },
): HistoryStore {
  return new Store(settings);
}
