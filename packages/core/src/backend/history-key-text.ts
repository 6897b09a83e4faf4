import type { HistoryKey } from "../ports/history-types.ts";
import { ownHistoryKey } from "./history-copies.ts";

/** The key that `historyKeyText` made a text of, for names in an index and for cursors that are keys; undefined for any other text. */
export function parseHistoryKeyText(text: string): HistoryKey | undefined {
  try {
    const parts: unknown = JSON.parse(text);
    const [owner, source, session] = Array.isArray(parts) && parts.length === 3 ? parts : [];
    return ownHistoryKey({ owner, source, session });
  } catch {
    // No JSON, no list, or no key.
    return undefined;
  }
}
