/** Names one conversation. `owner: null` is the unowned partition and never the same as `owner: ""`. */
export interface HistoryKey {
  readonly owner: string | null;
  readonly source: string;
  readonly session: string;
}

/** One opaque record. `data` is one well-formed JSON text without line breaks; it comes back byte-equal. */
export interface HistoryRecord {
  readonly id: string;
  readonly data: string;
}

/** A run of records, oldest first. */
export interface HistoryPage {
  readonly records: readonly HistoryRecord[];
  /** Changes with every write that adds or replaces; `""` means no conversation. Never reused, also not after `clear`. */
  readonly version: string;
  /** Cursor for `before`: the records right before these. Absent when there are none. */
  readonly older?: string | undefined;
  /** With `withFirst`: the first record of the conversation. */
  readonly first?: HistoryRecord | undefined;
  /** With `onCorrupt: "skip"`: where the skipped records were. */
  readonly corrupt?: readonly string[] | undefined;
}

/** What a store declares. A declared capability works; an undeclared one rejects with `unsupported`. */
export interface HistoryCapabilities {
  /** How many of the newest record ids are remembered: all, or at least this many (1,000 or more). */
  readonly dedupe: "all" | number;
  readonly processes: "one" | "many";
  readonly conditionalAppend: boolean;
  readonly replace: boolean;
  readonly list: boolean;
  readonly ttl: boolean;
  readonly maxRecords: boolean;
  /** Largest `data` in UTF-8 bytes. */
  readonly maxRecordBytes: number;
}

/** Cancels a call. Before sending: the AbortError. Afterwards a write is complete, absent, or `outcome_unknown`. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Options of `append` and `replace`. */
export interface AppendOptions extends CallOptions {
  /** Append only if this is still the version (`""`: no conversation yet); else `conflict`. Ids are judged first. */
  readonly ifVersion?: string | undefined;
}

/** Options of `read`. */
export interface ReadOptions extends CallOptions {
  /** Only the newest `last` records (1 or more); without it all of them. */
  readonly last?: number | undefined;
  /** A cursor from `older`. */
  readonly before?: string | undefined;
  readonly withFirst?: boolean | undefined;
  /** What one unreadable record means: reject with `corrupt` (default), or skip and report it. */
  readonly onCorrupt?: "error" | "skip" | undefined;
}

/** One conversation in a listing. */
export interface HistoryKeyInfo {
  readonly key: HistoryKey;
  /** ISO 8601, when the backend knows. */
  readonly updatedAt?: string | undefined;
}

/** Whose conversations to list: one owner's (`null`: the unowned ones), or explicitly everybody's. */
export type HistoryListFilter = ({ readonly owner: string | null } | { readonly allOwners: true }) & {
  readonly source?: string | undefined;
};

/** Options of `list`. */
export interface HistoryListOptions extends CallOptions {
  /** At most this many items; default 100. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** A page of a listing; `cursor` continues it. */
export interface HistoryList {
  readonly items: readonly HistoryKeyInfo[];
  readonly cursor?: string | undefined;
}
