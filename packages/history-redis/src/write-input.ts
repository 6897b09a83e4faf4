import { assertIfVersion, type CallSize } from "@agentfw/core/backend";

/** More than this in one script would keep a server from answering anybody else for too long. */
export const MOST_IN_ONE_CALL: CallSize = { maxRecords: 100_000, maxBytes: 256 * 1024 * 1024 };

/** The condition as the scripts take it: `*` is none. @throws `configuration` for a version that is no text. */
export function conditionOf(ifVersion: unknown): string {
  assertIfVersion(ifVersion);
  return ifVersion === undefined ? "*" : `=${ifVersion}`;
}
