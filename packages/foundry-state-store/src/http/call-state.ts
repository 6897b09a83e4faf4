import type { PipelineRequest } from "@azure/core-rest-pipeline";

/** How far one request has come, over all of its tries. */
export interface CallState {
  readonly isRead: boolean;
  /** On the clock of `performance.now()`. */
  readonly endsAt: number;
  /** True when the service may have carried it out: it was handed to the network, and nothing says that it was not. */
  mayHaveRun: boolean;
  /** What the last try ran into. */
  problem: unknown;
}

const states = new WeakMap<PipelineRequest, CallState>();

/** Ties a state to a request. */
export function trackCall(request: PipelineRequest, state: CallState): void {
  states.set(request, state);
}

/** The state of a request. One that nobody tied is as careful as can be. */
export function stateOf(request: PipelineRequest | undefined): CallState {
  return (request && states.get(request)) ?? { isRead: false, endsAt: 0, mayHaveRun: true, problem: undefined };
}
