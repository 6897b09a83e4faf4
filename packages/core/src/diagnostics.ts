/** What was repaired, skipped, cut or retried. */
export interface DiagnosticEvent {
  readonly type:
    | "already_stored"
    | "approval_ignored"
    | "corrupt_record_skipped"
    | "history_not_loaded"
    | "open_call_closed"
    | "orphan_result_dropped"
    | "provider_failed"
    | "run_input_ignored"
    | "run_retried"
    | "service_conversation_ignored"
    | "service_conversation_started"
    | "stream_gave_way"
    | "tool_failed"
    | "tool_result_dropped"
    | "torn_tail_cut"
    | "turn_stored_again"
    | (string & {});
  /** The provider or package that noticed. */
  readonly provider: string;
  /** What happened, without message text, owners or secrets. */
  readonly message: string;
  /** The session, message, record or call that it is about. */
  readonly sessionId?: string | undefined;
  readonly messageId?: string | undefined;
  readonly callId?: string | undefined;
  readonly position?: string | undefined;
  readonly cause?: unknown;
}

/** Receives every diagnostic. That it throws or rejects is ignored: reporting never changes an outcome. */
export type DiagnosticHandler = (event: DiagnosticEvent) => void;

/** Hands an event to a handler, whatever the handler does. */
export function report(handler: DiagnosticHandler | undefined, event: DiagnosticEvent): void {
  // A broken handler must not fail a run whose data is safe, nor end the process.
  new Promise((resolve) => resolve(handler?.(event))).catch(() => undefined);
}
