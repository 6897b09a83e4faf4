import { type AgentFrameworkError, isAgentFrameworkError } from "@agentfw/core";
import { assertIfMatch } from "@agentfw/core/backend";
import type { RawItem } from "./backend.ts";
import { isHeaderValue } from "./call-id.ts";
import { stateError } from "./errors.ts";

/** A conflict as core's port has it, with the etag that is there; any other error as it is. */
export async function refusalWithEtag(error: unknown, find: () => Promise<RawItem | undefined>): Promise<unknown> {
  if (!isAgentFrameworkError(error, "conflict") || error.currentVersion !== undefined) {
    return error;
  }
  // That the look fails changes nothing about the conflict.
  const item = await find().catch(() => undefined);
  return stateError("conflict", "create: an item with this key exists", {
    cause: error.cause,
    currentVersion: item?.etag,
  });
}

/** True for no condition, and for one that a header can carry. @throws `configuration` for what is no text */
export function canMatch(ifMatch: unknown): ifMatch is string | undefined {
  assertIfMatch(ifMatch);
  return ifMatch === undefined || isHeaderValue(ifMatch);
}

/** The conflict of a condition that cannot be sent: no item has such an etag. */
export async function unmatched(
  operation: string,
  find: () => Promise<RawItem | undefined>,
): Promise<AgentFrameworkError> {
  const item = await find();
  return stateError("conflict", `${operation}: the etag does not match`, { currentVersion: item?.etag });
}
