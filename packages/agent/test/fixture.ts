import {
  type AgentSession,
  type AppendOptions,
  type CallOptions,
  type DiagnosticEvent,
  type HistoryCapabilities,
  type HistoryKey,
  type HistoryPage,
  HistoryProvider,
  type HistoryProviderOptions,
  type HistoryRecord,
  type HistoryStore,
  InMemoryHistoryStore,
  type Message,
  openConversation,
  type ReadOptions,
} from "@agentfw/core";
import { Agent, type AgentOptions } from "../src/index.ts";
import { type Answer, ScriptedClient, type ScriptedClientOptions } from "./scripted-client.ts";

/** One call of a store. */
export interface StoreCall {
  readonly name: "append" | "read" | "clear";
  readonly key: HistoryKey;
  readonly records: readonly HistoryRecord[];
  readonly signal: AbortSignal | undefined;
}

/** A process's own store object over shared data, which can be slow, broken or silent. Keeps what it was asked. */
export class TestStore implements HistoryStore {
  readonly contractVersion = 1 as const;
  readonly capabilities: HistoryCapabilities;
  readonly calls: StoreCall[] = [];
  readonly data: HistoryStore;
  /** Runs before each call: what it throws is the outcome, and the call waits for it. */
  before: ((call: StoreCall) => unknown) | undefined;

  constructor(data: HistoryStore = new InMemoryHistoryStore()) {
    this.data = data;
    this.capabilities = data.capabilities;
  }

  async append(
    key: HistoryKey,
    records: readonly HistoryRecord[],
    options: AppendOptions = {},
  ): Promise<{ version: string; appended: number }> {
    await this.#enter({ name: "append", key, records, signal: options.signal });
    return this.data.append(key, records, options);
  }

  async read(key: HistoryKey, options: ReadOptions = {}): Promise<HistoryPage> {
    await this.#enter({ name: "read", key, records: [], signal: options.signal });
    return this.data.read(key, options);
  }

  async clear(key: HistoryKey, options: CallOptions = {}): Promise<void> {
    await this.#enter({ name: "clear", key, records: [], signal: options.signal });
    return this.data.clear(key, options);
  }

  async #enter(call: StoreCall): Promise<void> {
    this.calls.push(call);
    await this.before?.(call);
  }
}

/** What {@link open} makes an agent of. */
export interface FixtureOptions extends Omit<AgentOptions, "client"> {
  readonly store?: TestStore;
  readonly history?: HistoryProviderOptions;
  readonly client?: ScriptedClientOptions;
}

/** One process: an agent on a store, and all that can be seen of it. */
export interface Fixture {
  readonly client: ScriptedClient;
  readonly agent: Agent;
  readonly store: TestStore;
  readonly diagnostics: DiagnosticEvent[];
  /** A session object of the one conversation that most tests need. */
  session(): AgentSession;
  stored(): Promise<Message[]>;
}

/** Starts a process. Give the store of an earlier one to {@link reopen}. */
export function open(script: readonly Answer[], options: FixtureOptions = {}): Fixture {
  const { store = new TestStore(), history, client: clientOptions, contextProviders = [], ...rest } = options;
  const client = new ScriptedClient(script, clientOptions);
  const diagnostics: DiagnosticEvent[] = [];
  const agent = new Agent({
    client,
    contextProviders: [new HistoryProvider(store, history), ...contextProviders],
    onDiagnostic: (event) => diagnostics.push(event),
    ...rest,
  });
  return {
    client,
    agent,
    store,
    diagnostics,
    session: () => agent.createSession({ sessionId: "s", owner: "ann" }),
    stored: () => storedMessages(store),
  };
}

/** Another process on the data of an earlier one: every object but the data itself is new. */
export function reopen(earlier: Fixture, script: readonly Answer[], options: FixtureOptions = {}): Fixture {
  return open(script, { ...options, store: new TestStore(earlier.store.data) });
}

/** What is stored of the conversation that {@link Fixture.session} names. */
export async function storedMessages(store: TestStore, sessionId = "s"): Promise<Message[]> {
  const page = await openConversation(store.data, { owner: "ann", sessionId }).messages();
  return [...page.messages];
}

/** A promise and the functions that settle it. */
export interface Gate {
  readonly passed: Promise<void>;
  open(): void;
}

/** A point that code waits at until the test lets it go on. */
export function gate(): Gate {
  let release = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { passed, open: () => release() };
}

/** Lets everything that is ready run. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 5));
}

/** What a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("it was expected to reject");
    },
    (error: unknown) => error,
  );
}
