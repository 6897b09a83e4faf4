import type { FileStore, HistoryKey, HistoryStore, StateStore } from "@agentfw/core";

/** What a clause asks of `open()`. Hand these to the constructor of the store as they are. */
export interface OpenOptions {
  /** The idle life of what is stored. Rejects with `unsupported` or `configuration` where the store has no such thing. */
  readonly ttlSeconds?: number | undefined;
  /** How many records a conversation keeps. Rejects with `unsupported` or `configuration` where there is no such thing. */
  readonly maxRecords?: number | undefined;
  /** The deadline of every call. Asked for only together with an outage; a store without a server may leave it aside. */
  readonly timeoutMs?: number | undefined;
}

/** A store over a client that the caller owns. */
export interface SharedClient<Store> {
  readonly store: Store;
  /** True when the client still works. */
  isClientOpen(): Promise<boolean>;
}

/**
 * What `open()` gives: the store, and what can be done to the backend behind it. Offer as much as you can; a clause
 * that needs what is missing is reported as not covered, with the reason.
 */
export interface Opened<Store = unknown> {
  readonly store: Store;
  /** Releases everything that this call of `open()` made, `another()` included. Without it the stores are closed. */
  close?(): Promise<void>;
  /** One more store on the same data, sharing nothing with the first that two processes would not share. */
  another?(): Promise<Store>;
  /** Makes the backend unreachable: connections end, new ones are refused. */
  breakBackend?(): Promise<void>;
  /** Makes the backend accept connections and answer nothing. */
  stallBackend?(): Promise<void>;
  /** Ends what `breakBackend` or `stallBackend` began. */
  healBackend?(): Promise<void>;
  /** Moves the clock that expiry goes by. Without it the clauses on expiry wait in real time, a few seconds each. */
  advanceTime?(milliseconds: number): void | Promise<void>;
  /** A store over a client that was passed in. */
  sharedClient?(): Promise<SharedClient<Store>>;
}

/** What the contract of HistoryStore works with. */
export interface OpenedHistoryStore extends Opened<HistoryStore> {
  /** Makes one stored record unreadable where it is stored; `position` counts from 0, oldest first. */
  corrupt?(key: HistoryKey, position: number): Promise<void>;
}

/** What the contract of StateStore works with. */
export interface OpenedStateStore extends Opened<StateStore> {
  /** For a store that derives the identity itself: the same data as this owner sees it. `null` is the unowned view. */
  asOwner?(owner: string | null): Promise<StateStore>;
}

/** What `plantLink` put into a FileStore's root. */
export interface PlantedLink {
  /** Text of the file outside that the link leads to; it must never come out of the store. */
  readonly secret: string;
  /** True when nothing outside of the root was made, changed or deleted. */
  isOutsideUntouched(): Promise<boolean>;
}

/** What the contract of FileStore works with. */
export interface OpenedFileStore extends Opened<FileStore> {
  /** For a store that derives the identity itself: the same data as this owner sees it. `null` is the unowned view. */
  asOwner?(owner: string | null): Promise<FileStore>;
  /**
   * Puts a link at `path` inside of the unowned root that leads outside: to a file with a secret, to a directory that
   * holds the file `o.md` with a secret, or to nothing.
   */
  plantLink?(path: string, kind: "file" | "directory" | "dangling"): Promise<PlantedLink>;
}

/** A store under test: its name in reports, and how to open it. */
export interface ContractSuite<O extends Opened> {
  readonly name: string;
  /** Opens a store that sees nothing another call wrote. Called at least once for each clause. */
  open(options?: OpenOptions): Promise<O>;
  /**
   * Why `open()` cannot offer a hook, by the hook's name. A clause of a *declared* capability that is not covered for
   * want of a hook fails the suite unless the reason is given here.
   */
  readonly cannot?: { readonly [hook: string]: string | undefined } | undefined;
  /** How long one clause may take. @default 60,000 */
  readonly clauseTimeoutMs?: number | undefined;
}
