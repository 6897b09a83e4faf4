/** A tool call that the service is to answer with. */
export interface ScriptedCall {
  readonly callId: string;
  readonly name: string;
  /** JSON text of an object. */
  readonly arguments: string;
}

/** An answer that the service is to give, in pieces where the client streams. */
export interface ChatAnswer {
  readonly text?: string | undefined;
  readonly calls?: readonly ScriptedCall[] | undefined;
  /** What the service counts. Absent: whatever it likes. */
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number } | undefined;
  /** True when the answer ends because the model may not say more. */
  readonly isCutShort?: boolean | undefined;
}

/**
 * How the service is to refuse: the credentials are wrong; it is too busy for now; it failed; the request as such is
 * refused; the messages are longer than the model takes.
 */
export type ChatFailure = "unauthorized" | "busy" | "failed" | "refused" | "too_long";

/**
 * How the service is to break off: `silent` takes the request and says nothing; `stalled` gives the beginning of an
 * answer and then nothing; `cut` gives the beginning and ends the connection.
 */
export type ChatInterruption = "silent" | "stalled" | "cut";

/** What the service was asked. */
export interface RequestTally {
  /** Requests that reached it. */
  readonly received: number;
  /** Those of them that it is still answering, with a caller that is still there. */
  readonly open: number;
}
