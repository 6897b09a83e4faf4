import { configurationError } from "@agentfw/core";
import type { Attributes } from "@opentelemetry/api";
import { ATTRIBUTE } from "./attributes.ts";
import { type Operation, type Outcome, quietly } from "./operation.ts";
import type { Recorder } from "./recorder.ts";
import type { Moved, StoreCall, StoreCalls } from "./store-calls.ts";

/** Which store it is, for spans and metrics. */
export interface StoreLabels {
  readonly port: "history" | "state" | "file";
  readonly name: string;
}

type Method = (...args: unknown[]) => unknown;

/**
 * The store itself with its port's methods watched. Everything else, what the port does not know included, is the
 * store's own: members are read from it, its methods run on it, and what is assigned is assigned to it.
 *
 * @throws `configuration` for what is no such store, and for a frozen one, whose methods cannot be replaced.
 */
export function watchedStore<Store extends object>(
  recorder: Recorder,
  store: Store,
  labels: StoreLabels,
  calls: StoreCalls,
): Store {
  if (Object.isFrozen(store)) {
    throw configurationError("store", "must not be frozen; freeze what the wrapper gives");
  }
  // One function for each method, so that it is the same one whenever it is asked for.
  const methods = new Map<PropertyKey, { readonly own: unknown; readonly given: unknown }>();
  const watchedMethod = (property: PropertyKey, bound: Method): Method => {
    const call = typeof property === "string" && Object.hasOwn(calls, property) ? calls[property] : undefined;
    if (call === undefined) {
      return bound;
    }
    const watch = new WatchedCall(recorder, labels, String(property), call);
    return (...args) => watch.invoke(args, () => bound(...args));
  };
  return new Proxy(store, {
    get: (target, property) => {
      // Read from the store itself: its private members know no proxy.
      const own: unknown = Reflect.get(target, property, target);
      if (typeof own !== "function" || property === "constructor") {
        return own;
      }
      const known = methods.get(property);
      if (known?.own === own) {
        return known.given;
      }
      const given = watchedMethod(property, own.bind(target));
      methods.set(property, { own, given });
      return given;
    },
    set: (target, property, value) => Reflect.set(target, property, value, target),
  });
}

/** One method of a store, watched. */
class WatchedCall {
  readonly #recorder: Recorder;
  readonly #call: StoreCall;
  readonly #name: string;
  readonly #attributes: Attributes;

  constructor(recorder: Recorder, labels: StoreLabels, method: string, call: StoreCall) {
    this.#recorder = recorder;
    this.#call = call;
    this.#name = `${labels.port}_store.${method}`;
    this.#attributes = {
      [ATTRIBUTE.storePort]: labels.port,
      [ATTRIBUTE.storeOperation]: method,
      [ATTRIBUTE.storeName]: labels.name,
    };
  }

  invoke(args: readonly unknown[], run: () => unknown): unknown {
    const moved: { sent: Moved; received: Moved } = { sent: {}, received: {} };
    const operation = this.#recorder.begin({
      name: this.#name,
      kind: "internal",
      attributes: this.#attributes,
      measure: (outcome) => this.#measure(outcome, { ...moved.sent, ...moved.received }),
    });
    return operation === undefined ? run() : this.#watch(operation, args, moved, run);
  }

  async #watch(
    operation: Operation,
    args: readonly unknown[],
    moved: { sent: Moved; received: Moved },
    run: () => unknown,
  ): Promise<unknown> {
    quietly(() => {
      moved.sent = this.#call.sent?.(args) ?? {};
      if (operation.isRecording) {
        operation.set({ ...this.#naming(args), ...movedAttributes(moved.sent) });
      }
    });
    try {
      const result = await operation.run(async () => run());
      quietly(() => {
        moved.received = this.#call.received?.(result) ?? {};
        operation.set(movedAttributes(moved.received));
      });
      operation.end();
      return result;
    } catch (error) {
      operation.fail(error);
      throw error;
    }
  }

  #naming(args: readonly unknown[]): Attributes {
    const { captureIds, captureOwner } = this.#recorder.settings;
    if (!captureIds && !captureOwner) {
      return {};
    }
    const { owner, session, key } = this.#call.names(args);
    return {
      ...(captureOwner ? { [ATTRIBUTE.endUserId]: owner } : {}),
      ...(captureIds ? { [ATTRIBUTE.conversationId]: session, [ATTRIBUTE.storeKey]: key } : {}),
    };
  }

  #measure({ seconds, errorType, instruments }: Outcome, { bytes }: Moved): void {
    instruments.storeDuration.record(seconds, { ...this.#attributes, [ATTRIBUTE.errorType]: errorType });
    if (bytes !== undefined && errorType === undefined) {
      instruments.storeBytes.record(bytes, this.#attributes);
    }
    if (errorType === "conflict") {
      instruments.conflicts.add(1, this.#attributes);
    }
  }
}

function movedAttributes({ items, bytes, appended, corrupt, found }: Moved): Attributes {
  return {
    [ATTRIBUTE.storeItems]: items,
    [ATTRIBUTE.storeBytes]: bytes,
    [ATTRIBUTE.storeAppended]: appended,
    [ATTRIBUTE.storeCorrupt]: corrupt,
    [ATTRIBUTE.storeFound]: found,
  };
}
