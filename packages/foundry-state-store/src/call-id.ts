import { AsyncLocalStorage } from "node:async_hooks";
import { configurationError } from "@agentfw/core";

const calls = new AsyncLocalStorage<string | undefined>();

/**
 * Runs `task` on behalf of the caller that `callId` stands for: the value of the `x-agent-foundry-call-id` header of the
 * request that is being answered, as it came. Item operations in `task`, and in everything that it starts, send it, however
 * long that goes on and whatever other requests run meanwhile. `undefined` leaves a call that is around.
 *
 * @throws `configuration` for a call id that no header can carry.
 */
export function runWithCallId<T>(callId: string | undefined, task: () => T): T {
  if (callId !== undefined) {
    assertCallId(callId);
  }
  return calls.run(callId, task);
}

/** The call id that is around, for work that goes on in another process: keep it and give it to each item operation. */
export function currentCallId(): string | undefined {
  return calls.getStore();
}

/** Refuses a call id that no header can carry. It is not shown: it stands for a person. */
export function assertCallId(callId: unknown): asserts callId is string {
  if (typeof callId !== "string" || !isHeaderValue(callId)) {
    throw configurationError("callId", "must be the header's value: visible ASCII characters, at least one");
  }
}

/** True for a text that a header carries as it is. */
export function isHeaderValue(text: string): boolean {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

/** Names the call that a request belongs to, and with it the user. */
export const CALL_ID_HEADER = "x-agent-foundry-call-id";
