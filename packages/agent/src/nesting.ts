import { AsyncLocalStorage } from "node:async_hooks";
import type { PlaceLease } from "@agentfw/core";

/** The conversations that the code around us holds, so that a run inside a run never waits for the outer one. */
const held = new AsyncLocalStorage<readonly PlaceLease[]>();

/** The places held by the runs around the caller. */
export function heldPlaces(): readonly PlaceLease[] {
  return held.getStore() ?? [];
}

/** Runs code that belongs to a run: what it starts knows which places are taken by its own kind. */
export type Inside = <T>(code: () => T) => T;

/** @param lease The place of this run, beside those of the runs around it. */
export function insideOf(lease: PlaceLease | undefined): Inside {
  const places = lease === undefined ? heldPlaces() : [...heldPlaces(), lease];
  return (code) => held.run(places, code);
}
