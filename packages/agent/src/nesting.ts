import { AsyncLocalStorage } from "node:async_hooks";
import type { PlaceLease } from "./conversation-queue.ts";

/** The conversations that the code around us holds, so that a run inside a run never waits for the outer one. */
const held = new AsyncLocalStorage<readonly PlaceLease[]>();

/** The places held by the runs around the caller. */
export function heldPlaces(): readonly PlaceLease[] {
  return held.getStore() ?? [];
}

/** Runs code that belongs to a run: runs that it starts know which places are taken by their own kind. */
export function insideOf<T>(lease: PlaceLease, code: () => T): T {
  return held.run([...heldPlaces(), lease], code);
}
