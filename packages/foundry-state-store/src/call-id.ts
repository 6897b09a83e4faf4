import { AsyncLocalStorage } from "node:async_hooks";
import { configurationError } from "@agentfw/core";
import { isHeaderValue } from "./limits.ts";

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
  if (!isHeaderValue(callId)) {
    throw configurationError("callId", "must be the header's value, of visible ASCII");
  }
}
