import type { ChatClient, ContextProvider, FileStore, HistoryKey, HistoryStore, StateStore } from "@agentfw/core";
import type { ChatAnswer, ChatFailure, ChatInterruption, RequestTally } from "./chat/script.ts";
import type { HookName } from "./clause.ts";

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

/** What every `open()` gives, whatever it opens. */
export interface OpenedSubject {
  /** Releases everything that this call of `open()` made, `another()` included. Without it the stores are closed. */
  close?(): Promise<void>;
}

/** What can be done to the backend behind what was opened. */
export interface BackendHooks {
  /** Makes the backend unreachable: connections end, new ones are refused. */
  breakBackend?(): Promise<void>;
  /** Makes the backend accept connections and answer nothing. */
  stallBackend?(): Promise<void>;
  /** Ends what `breakBackend` or `stallBackend` began. */
  healBackend?(): Promise<void>;
}

/** Calls that each make what is tested with options that can never work, by what is wrong with them. */
export type WrongOptions = Readonly<Record<string, () => unknown>>;

/**
 * What `open()` gives: the store, and what can be done to the backend behind it. Offer as much as you can; a clause
 * that needs what is missing is reported as not covered, with the reason. Members of other names are refused with
 * `configuration`.
 */
export interface Opened<Store = unknown> extends OpenedSubject, BackendHooks {
  readonly store: Store;
  /** One more store on the same data, sharing nothing with the first that two processes would not share. */
  another?(): Promise<Store>;
  /** Makes the backend do what the next call asks for, and its reply be lost on the way back. */
  loseNextReply?(): void | Promise<void>;
  /** Makes what the next call asks for be lost on its way to the backend. */
  loseNextRequest?(): void | Promise<void>;
  /** Makes what the next call asks for reach the backend twice. */
  duplicateNextRequest?(): void | Promise<void>;
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

/** What the contract of ContextProvider works with. */
export interface OpenedContextProvider extends OpenedSubject, BackendHooks {
  readonly provider: ContextProvider;
  /** A second provider with the same options over the same data, as another process would have it. */
  another?(): Promise<ContextProvider>;
  wrongOptions?(): WrongOptions;
}

/** What the contract of ChatClient works with: the client, and what can be asked of the service behind it. */
export interface OpenedChatClient extends OpenedSubject, BackendHooks {
  readonly client: ChatClient;
  /** Makes the service give this answer to the next request; several calls queue up. */
  answerNext?(answer: ChatAnswer): void | Promise<void>;
  /** Makes the service refuse the next request. */
  failNext?(failure: ChatFailure): void | Promise<void>;
  /** Makes the service break off, or stay silent, when it is asked next. */
  interruptNext?(how: ChatInterruption): void | Promise<void>;
  /** The text of the last request, as it reached the service. */
  lastRequest?(): string | Promise<string>;
  /** The requests that reached the service, and those that it still answers for someone. */
  requests?(): RequestTally | Promise<RequestTally>;
  wrongOptions?(): WrongOptions;
}

/**
 * Why `open()` does not offer hooks, by their names. Other names are refused with `configuration`, when the suite is
 * declared or run.
 */
export type HookReasons = { readonly [hook in HookName]?: string | undefined };

/** What is tested: its name in reports, and how to open it. */
export interface ContractSuite<O extends OpenedSubject> {
  readonly name: string;
  /** Opens one that sees nothing of what another call of `open()` did. Called at least once for each clause. */
  open(options?: OpenOptions): Promise<O>;
  /**
   * Why `open()` cannot offer a hook. A clause of a *declared* capability that is not covered for
   * want of a hook fails the suite unless the reason is given here.
   */
  readonly cannot?: HookReasons | undefined;
  /** How long one clause may take. @default 60,000 */
  readonly clauseTimeoutMs?: number | undefined;
}
