import type { CliOutput } from "./cli-output.ts";

/** What ends a run from outside. `EPIPE`: nobody reads what is printed any more. */
export type Interruption = "SIGINT" | "SIGTERM" | "SIGHUP" | "EPIPE";

/** How a run ended, whatever its clauses said. */
export type Ending =
  /** It came to its own end, or was refused before any clause was run. */
  | { readonly how: "over" }
  | { readonly how: "interrupted"; readonly by: Interruption }
  | { readonly how: "broken off"; readonly why: string };

/** The exit codes of interruptions: 128 and the number of the signal, as shells have it. */
export const INTERRUPTION_CODES: Readonly<Record<Interruption, number>> = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 129,
  EPIPE: 141,
};

/** The signals that ask a run to end. */
export const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Calls back for each interruption, until the function that it gives is called. */
export function onInterruption(output: CliOutput, take: (by: Interruption) => void): () => void {
  const listeners = SIGNALS.map((signal) => [signal, () => take(signal)] as const);
  for (const [signal, listener] of listeners) {
    process.on(signal, listener);
  }
  output.onUnread(() => take("EPIPE"));
  return () => {
    for (const [signal, listener] of listeners) {
      process.off(signal, listener);
    }
  };
}
