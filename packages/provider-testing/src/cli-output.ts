import type { Terminal } from "./cli-progress.ts";

/** Prints text as it is. */
export type Write = (text: string) => void;

/** Where the command prints: `write` for what was asked for, `writeAside` for what else there is to say. */
export interface CliOutput {
  readonly write: Write;
  readonly writeAside: Write;
  /** Where progress can be shown, if somebody is looking. */
  readonly terminal: Terminal | undefined;
  /** Has this called, in place of what was to be called before, when nobody reads what is printed any more. */
  onUnread(call: () => void): void;
}
