import type { Message } from "./message.ts";

/** Options of {@link MessageLog.read}. */
export interface MessageLogReadOptions {
  readonly last?: number | undefined;
  readonly before?: string | undefined;
  readonly withFirst?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Stored messages, oldest first. */
export interface MessageLogPage {
  readonly messages: readonly Message[];
  readonly version: string;
  readonly older?: string | undefined;
  readonly first?: Message | undefined;
}

/** One conversation as messages, wherever it is kept: what the policy of history providers works on. */
export interface MessageLog {
  read(options?: MessageLogReadOptions): Promise<MessageLogPage>;

  /** Appends messages that are not stored yet, in one piece; gives how many those were, and the version afterwards. */
  append(
    messages: readonly Message[],
    options?: { readonly ifVersion?: string | undefined },
  ): Promise<{ readonly version: string; readonly appended: number }>;
}
