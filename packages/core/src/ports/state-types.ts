/** Who is asking, and how to stop. Stores that derive the identity themselves ignore `owner`. */
export interface Scope {
  /** Trusted identity. `null` or absent: the unowned partition, which no owner sees. */
  readonly owner?: string | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Labels to filter by. A write replaces them wholesale. */
export type Tags = Readonly<Record<string, string>>;

/** One stored item. */
export interface StateItem {
  readonly key: string;
  /** The JSON object as it was written; numbers keep their text. */
  readonly text: string;
  readonly etag: string;
  readonly tags: Tags;
}

/** One item in a listing, without its text. */
export interface StateKey {
  readonly key: string;
  readonly etag: string;
  readonly tags: Tags;
}

/** What a store declares. */
export interface StateCapabilities {
  /** Largest `text` in UTF-8 bytes. */
  readonly maxValueBytes: number;
  readonly ttl: boolean;
  readonly isolation: boolean;
}

/** Options of `listKeys`. */
export interface StateListOptions extends Scope {
  /** Only keys that carry all of these tags. */
  readonly tags?: Tags | undefined;
  /** At most this many keys; default 100. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** Order of creation; default `asc`. */
  readonly order?: "asc" | "desc" | undefined;
}
