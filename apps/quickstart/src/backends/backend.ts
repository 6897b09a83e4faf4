import type { AgentSession, DiagnosticHandler, HistoryPolicy, MessageHistoryProvider } from "@agentfw/core";

/** What a backend is opened with. */
export interface BackendOptions {
  /** The folder for everything that is stored on this machine. */
  readonly data: string;
  readonly onDiagnostic?: DiagnosticHandler | undefined;
}

/** A backend in use. */
export interface OpenBackend {
  /** A history provider over this backend, with the given policy. */
  provider(policy?: HistoryPolicy): MessageHistoryProvider;
  /** Where the conversation is stored, in a few words. */
  where(session: AgentSession): Promise<string>;
  /** Where all conversations are. */
  readonly place: string;
  /** Commands that show what is stored. */
  howToLook(session: AgentSession): Promise<readonly string[]>;
  /** How to delete everything that this backend stored. */
  howToDelete(): string;
  /** Removes the conversation. */
  clear(session: AgentSession): Promise<void>;
  close(): Promise<void>;
}

/** A place where conversations can be kept. To add one: a file with one of these, and a line in `index.ts`. */
export interface Backend {
  /** In a few words, for people who choose. */
  readonly summary: string;
  /** True when the conversation is in the session object and is gone with it. */
  readonly isInSession: boolean;
  open(options: BackendOptions): OpenBackend;
}
