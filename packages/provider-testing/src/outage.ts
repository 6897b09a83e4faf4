import type { ErrorCode } from "@agentfw/core";
import type { Trial } from "./clause.ts";
import { ensure, expectCode, failure, present } from "./expect.ts";
import type { BackendHooks, OpenedSubject } from "./opened.ts";

/** The deadline that the clauses on outages ask for. */
export const DEADLINE_MS = 1_000;

/** How much later a call may settle on a busy machine before the clause fails. */
const GRACE_MS = 3_000;

/** What an outage may look like to a caller. */
const OUTAGE_CODES: readonly ErrorCode[] = ["unavailable", "timeout", "outcome_unknown"];

/** A named call. */
export type NamedCalls = Readonly<Record<string, () => Promise<unknown>>>;

/** Opens a store with a short deadline. */
export function openWithDeadline<O extends OpenedSubject>(trial: Trial<O>): Promise<O> {
  return trial.open({ timeoutMs: DEADLINE_MS });
}

/** Makes the backend fail, runs `during`, and makes it work again whatever happened. */
export async function duringOutage(
  opened: BackendHooks,
  kind: "breakBackend" | "stallBackend",
  during: () => Promise<void>,
): Promise<void> {
  await present(
    opened[kind]?.().then(() => true),
    `${kind}()`,
  );
  try {
    await during();
  } finally {
    await present(
      opened.healBackend?.().then(() => true),
      "healBackend()",
    );
  }
}

/** Fails unless every call rejects as an outage does, each within its deadline. The calls run at once. */
export async function expectOutage(calls: NamedCalls): Promise<void> {
  await Promise.all(Object.entries(calls).map(([name, call]) => expectOne(name, call)));
}

async function expectOne(name: string, call: () => Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `${name} must settle within its deadline of ${DEADLINE_MS} ms; it had not after ${GRACE_MS} ms more`;
    timer = setTimeout(() => reject(failure(message)), DEADLINE_MS + GRACE_MS);
  });
  try {
    const outage = expectCode(call(), `${name} during an outage`, ...OUTAGE_CODES);
    const error = await Promise.race([outage, late]);
    ensure(error.retryable, `${name} must be retryable after an outage`, error);
  } finally {
    clearTimeout(timer);
  }
}
