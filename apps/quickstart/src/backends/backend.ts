import type { AgentSession, DiagnosticHandler, HistoryPolicy, MessageHistoryProvider } from "@agentfw/core";

/** What a backend is opened with. */
export interface BackendOptions {
  /** The folder for everything that is stored on this machine. */
  readonly data: string;
  /** Where the server is, for a backend that has one; without it, one is started. */
  readonly url?: string | undefined;
  readonly onDiagnostic?: DiagnosticHandler | undefined;
}

/** A backend in use. */
export interface OpenBackend {
  /** Opens the same backend in another process. Undefined for a backend without a server. */
  readonly url: string | undefined;
  /** What a person can do who wants to keep what ends with this process. Undefined when it stays. */
  readonly howToKeep: string | undefined;
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
  /** Also ends a server that was started. */
  close(): Promise<void>;
}

/** A place where conversations can be kept. To add one: a file with one of these, and an entry in `index.ts`. */
export interface Backend {
  /** In a few words, for people who choose. */
  readonly summary: string;
  /** True when the conversation is in the session object and is gone with it. */
  readonly isInSession: boolean;
  /** Starts a server if there is to be one, but connects to none: one that is away shows at the first call. */
  open(options: BackendOptions): Promise<OpenBackend>;
}
