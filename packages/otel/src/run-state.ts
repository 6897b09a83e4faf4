import { type Context, context, createContextKey } from "@opentelemetry/api";
import type { Operation } from "./operation.ts";

/** What a run's tools and model calls know about the run around them. */
export interface RunState {
  readonly agentName: string | undefined;
  /** Tool calls that have not settled: one that heeds no abort ends with its run, or it would never be seen. */
  readonly openTools: Set<Operation>;
}

const KEY = createContextKey("@agentfw/otel run");

/** A context in which a run is known. */
export function withRunState(inside: Context, state: RunState): Context {
  return inside.setValue(KEY, state);
}

/** The run that the caller is part of. */
export function currentRun(): RunState | undefined {
  const value = context.active().getValue(KEY);
  return isRunState(value) ? value : undefined;
}

/** Other copies of this package have keys of their own, so what is there was put there above. */
function isRunState(value: unknown): value is RunState {
  return typeof value === "object" && value !== null && "openTools" in value;
}
