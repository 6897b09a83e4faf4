import { OnDemand } from "@agentfw/core/backend";
import { PROVIDER } from "./errors.ts";
import type { OpeningCall } from "./options.ts";

/*
 * Whatever talks to the service or to the disk is in engines, one for each class, which are loaded on demand: importing the
 * package costs little, and a program that uses one class does not load what only another one needs. An engine is one part:
 * once it is there, nothing of its class can fail to load, in the middle of an outage or after a deployment.
 *
 * Each has a constant of its own, so that a bundler leaves out the engines of the classes that a program leaves out.
 */

/** How an engine is loaded. A test can put another `load` in the place of each. */
export interface Engine<T> {
  load: () => Promise<T>;
}

/** The files of a store, their lock, and what is in them. */
export const filesEngine: Engine<typeof import("./local/open-files.ts")> = {
  load: () => import("./local/open-files.ts"),
};

/** Everything that asks a state store for conversations and reads what it answers. */
export const historyEngine: Engine<typeof import("./history/conversations.ts")> = {
  load: () => import("./history/conversations.ts"),
};

/** The HTTP pipeline, the protocol, and what its replies mean. */
export const serviceEngine: Engine<typeof import("./service/open-store.ts")> = {
  load: () => import("./service/open-store.ts"),
};

/** Loads an engine for a call that opens a store. @throws `unavailable`, `timeout`, the abort reason; nothing was sent */
export function loadEngine<T>({ load }: Engine<T>, call: OpeningCall): Promise<T> {
  return new OnDemand(PROVIDER, load).runWithin(call.operation, call, async (engine) => engine);
}
