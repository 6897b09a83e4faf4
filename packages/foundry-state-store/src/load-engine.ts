import { type CallLimits, OnDemand } from "@agentfw/core/backend";
import { PROVIDER } from "./errors.ts";

/*
 * Whatever talks to the service or to the disk is in engines, one for each class, which are loaded on demand: importing the
 * package costs little, and a program that uses one class does not load what only another one needs. An engine is one part:
 * once it is there, nothing of its class can fail to load, in the middle of an outage or after a deployment.
 */

/** How each engine is loaded. */
export interface Engines {
  /** The files of a store, their lock, and what is in them. */
  files: () => Promise<typeof import("./local/open-files.ts")>;
  /** Everything that asks a state store for conversations and reads what it answers. */
  history: () => Promise<typeof import("./history/conversations.ts")>;
  /** The HTTP pipeline, the protocol, and what its replies mean. */
  service: () => Promise<typeof import("./service/open-store.ts")>;
}

/** The loaders. In an object, so that a test can put another one in the place of each. */
export const engines: Engines = {
  files: () => import("./local/open-files.ts"),
  history: () => import("./history/conversations.ts"),
  service: () => import("./service/open-store.ts"),
};

/** Loads an engine for a call that opens a store. @throws `unavailable`, `timeout`, the abort reason; nothing was sent */
export function loadEngine<T>(load: () => Promise<T>, limits: CallLimits): Promise<T> {
  return new OnDemand(PROVIDER, load).runWithin("getOrCreate", limits, async (engine) => engine);
}
