import {
  assertName,
  assertObject,
  type ChatMiddleware,
  configurationError,
  type DiagnosticHandler,
  type FileStore,
  type FunctionMiddleware,
  type HistoryStore,
  report,
  type StateStore,
} from "@agentfw/core";
import { trace } from "@opentelemetry/api";
import { ATTRIBUTE } from "./attributes.ts";
import { chatMiddleware } from "./chat-middleware.ts";
import { quietly } from "./operation.ts";
import { type TelemetryOptions, telemetrySettings } from "./options.ts";
import { Recorder } from "./recorder.ts";
import { type RunMiddleware, runMiddleware } from "./run-middleware.ts";
import { FILE_CALLS, HISTORY_CALLS, STATE_CALLS, type StoreCalls } from "./store-calls.ts";
import { toolMiddleware } from "./tool-middleware.ts";
import { type StoreLabels, watchedStore } from "./watched-store.ts";

/** Options of a store that is watched. */
export interface WatchedStoreOptions {
  /** Tells stores of one port apart in spans and metrics. @default the name of the store's class */
  readonly name?: string | undefined;
}

/** Middleware of each kind, to be put in front of an agent's own. */
export type TelemetryMiddleware = readonly [RunMiddleware, ChatMiddleware, FunctionMiddleware];

/**
 * Spans and metrics of OpenTelemetry for runs, model calls, tools and stores. Holds nothing about a run: one instance
 * serves all agents and stores of a process, concurrently. It uses what is registered with OpenTelemetry's API and
 * registers nothing; without an SDK everything passes through.
 *
 * Watching never changes an outcome: values, errors, order and timing are those of what is watched.
 */
export class Telemetry {
  /** For the `middleware` of an agent or a run. What stands before it is outside of its spans, what follows inside. */
  readonly middleware: TelemetryMiddleware;
  readonly #recorder: Recorder;
  readonly #stores = new WeakMap<object, object>();

  /** @throws `configuration` naming the option. */
  constructor(options: TelemetryOptions = {}) {
    const recorder = new Recorder(telemetrySettings(options));
    this.#recorder = recorder;
    this.middleware = [runMiddleware(recorder), chatMiddleware(recorder), toolMiddleware(recorder)];
  }

  /**
   * A history store whose calls are watched, for everything that uses it: runs on a conversation are queued by the store
   * object, and this one is another object than the store. The same one for the same store, under its first name.
   *
   * @throws `configuration` for what is no history store, or frozen.
   */
  historyStore<Store extends HistoryStore>(store: Store, options: WatchedStoreOptions = {}): Store {
    return this.#watched(store, "history", ["append", "read", "clear"], HISTORY_CALLS, options);
  }

  /** A state store whose calls are watched; see {@link Telemetry.historyStore}. */
  stateStore<Store extends StateStore>(store: Store, options: WatchedStoreOptions = {}): Store {
    return this.#watched(store, "state", ["create", "set", "get"], STATE_CALLS, options);
  }

  /** A file store whose calls are watched; see {@link Telemetry.historyStore}. */
  fileStore<Store extends FileStore>(store: Store, options: WatchedStoreOptions = {}): Store {
    return this.#watched(store, "file", ["read", "write", "exists"], FILE_CALLS, options);
  }

  /**
   * For `onDiagnostic` of agents, providers and stores: counts every diagnostic by its type, and writes it down in the
   * span in which it happened.
   *
   * @param next Hears of every diagnostic too.
   */
  onDiagnostic(next?: DiagnosticHandler): DiagnosticHandler {
    if (next !== undefined && typeof next !== "function") {
      throw configurationError("next", "must be a function");
    }
    return (event) => {
      quietly(() => {
        const attributes = {
          [ATTRIBUTE.diagnosticType]: event.type,
          [ATTRIBUTE.diagnosticProvider]: event.provider,
        };
        this.#recorder.instruments?.diagnostics.add(1, attributes);
        const span = trace.getActiveSpan();
        if (span?.isRecording()) {
          span.addEvent("agentfw.diagnostic", attributes);
        }
      });
      report(next, event);
    };
  }

  #watched<Store extends object>(
    store: Store,
    port: StoreLabels["port"],
    required: readonly string[],
    calls: StoreCalls,
    options: WatchedStoreOptions,
  ): Store {
    assertObject(store, "store");
    assertObject(options, "options");
    for (const method of required) {
      if (typeof Reflect.get(store, method) !== "function") {
        throw configurationError("store", `must be a ${port} store, with ${required.join(", ")}`);
      }
    }
    const { name = className(store) ?? port } = options;
    assertName(name, "name");
    const known = this.#stores.get(store);
    if (isWatched(store, known)) {
      return known;
    }
    const watched = watchedStore(this.#recorder, store, { port, name }, calls);
    this.#stores.set(store, watched);
    // What is watched already is not watched twice.
    this.#stores.set(watched, watched);
    return watched;
  }
}

/** What is kept for a store is that store, watched. */
function isWatched<Store extends object>(_store: Store, known: object | undefined): known is Store {
  return known !== undefined;
}

/** The name of a store's class; an object literal has none worth telling. */
function className(store: object): string | undefined {
  const name: unknown = store.constructor?.name;
  return typeof name === "string" && name !== "" && name !== "Object" ? name : undefined;
}
