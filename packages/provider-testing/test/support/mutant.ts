import {
  type ChatClient,
  type ContextProvider,
  type FileStore,
  type HistoryStore,
  isPlainObject,
  type StateStore,
} from "@agentfw/core";
import type {
  OpenedChatClient,
  OpenedContextProvider,
  OpenedFileStore,
  OpenedHistoryStore,
  OpenedStateStore,
  OpenedSubject,
  OpenOptions,
  WrongOptions,
} from "../../src/index.ts";
import { type ChatService, openChatWith, referenceChatClient } from "./reference-chat.ts";
import { openContextWith, referenceContextProvider } from "./reference-context.ts";
import { type FileWorld, openFileWith, referenceFileStore } from "./reference-file.ts";
import { type HistoryWorld, openHistoryWith, referenceHistoryStore } from "./reference-history.ts";
import { openStateWith, referenceStateStore, type StateWorld } from "./reference-state.ts";

/** A store, provider or client with one defect, and the clauses that must notice it. */
export interface Mutant<O extends OpenedSubject = OpenedSubject> {
  /** What it does wrong, as one would say it in a bug report. */
  readonly name: string;
  readonly kills: readonly string[];
  /** Clauses that the defect gets past: they show what the killing clause is needed for. */
  readonly spares: readonly string[];
  /** Text of the error that the store itself throws, where that and not a wrong result is the defect. */
  readonly rejects?: string | undefined;
  open(options?: OpenOptions): Promise<O>;
}

/** What a mutant may be told beside its defect. */
export interface MutantOptions {
  readonly spares?: readonly string[];
  /**
   * Text of the error that the store throws, for a defect that is an error: a call that must succeed rejects, or one
   * rejects with another error than it must. Without it a clause that fails on an error of the store proves nothing.
   */
  readonly rejects?: string;
  /** Changes what the store behind the defect is opened with. */
  readonly adjust?: (options: OpenOptions) => OpenOptions;
  /** What providers and clients are to refuse when they are made. */
  readonly wrongOptions?: () => WrongOptions;
}

/** Opened without an expiry of its own, for defects that bring their own. */
export const withoutTtl: MutantOptions = { adjust: ({ ttlSeconds: _, ...rest }) => rest };

/** Opened without a limit of its own, for defects that bring their own. */
export const withoutMaxRecords: MutantOptions = { adjust: ({ maxRecords: _, ...rest }) => rest };

/** A defective HistoryStore: the members that `change` gives take the place of those of a sound one. */
export function historyMutant(
  name: string,
  kills: readonly string[],
  change: (store: Required<HistoryStore>, world: HistoryWorld) => Partial<HistoryStore>,
  options: MutantOptions = {},
): Mutant<OpenedHistoryStore> {
  const make = (world: HistoryWorld) => {
    const store = referenceHistoryStore(world);
    return { ...store, ...change(store, world) };
  };
  return {
    name,
    kills,
    spares: options.spares ?? [],
    rejects: options.rejects,
    open: openHistoryWith(make, options.adjust),
  };
}

/** A defective StateStore. */
export function stateMutant(
  name: string,
  kills: readonly string[],
  change: (store: StateStore, world: StateWorld) => Partial<StateStore>,
  options: MutantOptions = {},
): Mutant<OpenedStateStore> {
  const make = (world: StateWorld) => {
    const store = referenceStateStore(world);
    return { ...store, ...change(store, world) };
  };
  return {
    name,
    kills,
    spares: options.spares ?? [],
    rejects: options.rejects,
    open: openStateWith(make, options.adjust),
  };
}

/** A defective FileStore. */
export function fileMutant(
  name: string,
  kills: readonly string[],
  change: (store: FileStore, world: FileWorld) => Partial<FileStore>,
  options: MutantOptions = {},
): Mutant<OpenedFileStore> {
  const make = (world: FileWorld) => {
    const store = referenceFileStore(world);
    return { ...store, ...change(store, world) };
  };
  return { name, kills, spares: options.spares ?? [], rejects: options.rejects, open: openFileWith(make) };
}

/** A defective ContextProvider. */
export function contextMutant(
  name: string,
  kills: readonly string[],
  change: (provider: Required<ContextProvider>, world: HistoryWorld) => Partial<ContextProvider>,
  { spares = [], rejects, wrongOptions }: MutantOptions = {},
): Mutant<OpenedContextProvider> {
  const make = (world: HistoryWorld) => {
    const provider = referenceContextProvider(world);
    return { ...provider, ...change(provider, world) };
  };
  return { name, kills, spares, rejects, open: openContextWith(make, wrongOptions) };
}

/** A defective ChatClient. */
export function chatMutant(
  name: string,
  kills: readonly string[],
  change: (client: Required<ChatClient>, service: ChatService) => Partial<ChatClient>,
  { spares = [], rejects, wrongOptions }: MutantOptions = {},
): Mutant<OpenedChatClient> {
  const make = (service: ChatService) => {
    const client = referenceChatClient(service);
    return { ...client, ...change(client, service) };
  };
  return { name, kills, spares, rejects, open: openChatWith(make, wrongOptions) };
}

/** The options without a member that is of another type than it should be: what takes it for none. */
export function lenient<T>(options: T, name: string, type: "string" | "number"): T {
  const isWrong = isPlainObject(options) && typeof options[name] !== type;
  return isWrong ? { ...options, [name]: undefined } : options;
}

/** Runs one piece of work after the other. */
export function queue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
}

/** One value for each world, shared by the stores over it. */
export function perWorld<T>(make: () => T): (world: object) => T {
  const values = new WeakMap<object, T>();
  return (world) => {
    const value = values.get(world) ?? make();
    values.set(world, value);
    return value;
  };
}
