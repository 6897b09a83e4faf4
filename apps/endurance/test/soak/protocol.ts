/** What goes wrong in a run, at the `at`th of the points that it passes. */
export interface Mishap {
  readonly kind:
    | "none"
    | "abort"
    | "abort-in-write"
    | "cut"
    | "leave"
    | "kill"
    | "kill-in-write"
    | "outage"
    | "lost-reply"
    | "silent-store"
    | "model-error";
  readonly at: number;
}

/** How the conversations of one session are kept; the same in every run and process. */
export interface SessionHabits {
  readonly historyPersistence: "per-run" | "per-service-call";
  readonly conditionalAppend: boolean;
  readonly keepPartial: boolean;
  readonly maxMessages: number | undefined;
  /** Whether the model gives calls ids that it has given before, as some services do and OpenAI's does not. */
  readonly repeatsCallIds: boolean;
}

/** One run that a child process is asked for. */
export interface Job {
  readonly session: string;
  readonly habits: SessionHabits;
  /** Absent for a run that is not to be told apart from others. */
  readonly runId: string | undefined;
  readonly inputId: string;
  /** Ids of the requests for approval that the user answers in this run, and what he says to them. */
  readonly answers: readonly { readonly id: string; readonly approved: boolean }[];
  readonly seed: number;
  readonly isStreamed: boolean;
  readonly mishap: Mishap;
}

/** What a child tells, one JSON line each, in the order in which it happens. */
export type Told =
  | { readonly type: "ready" }
  | { readonly type: "effect"; readonly session: string; readonly key: string }
  | { readonly type: "mishap"; readonly kind: Mishap["kind"] }
  | { readonly type: "retried"; readonly how: string }
  | { readonly type: "refused"; readonly fault: string }
  | { readonly type: "unheard"; readonly error: string }
  | {
      readonly type: "done";
      readonly ids: readonly string[];
      readonly requests: readonly string[];
      readonly withoutHistory: boolean;
      /** Kinds of what the run reported on its way. */
      readonly reported: readonly string[];
    }
  | { readonly type: "failed"; readonly error: string };

/** A source of chance that gives the same numbers for the same seed. */
export function chance(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
