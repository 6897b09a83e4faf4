import type { Trial } from "./clause.ts";
import { expectCode } from "./expect.ts";
import type { OpenedSubject } from "./opened.ts";
import type { NamedCalls } from "./outage.ts";

/**
 * Closes the store and fails unless each call is refused as the caller's mistake, so that nobody tries it again, and the
 * store can be closed once more.
 */
export async function expectClosed<O extends OpenedSubject>(
  trial: Trial<O>,
  store: { close?(): Promise<void> },
  calls: NamedCalls,
): Promise<void> {
  if (store.close === undefined) {
    trial.notCovered("the store has no close()");
  }
  await store.close();
  for (const [name, call] of Object.entries(calls)) {
    await expectCode(call(), `${name} after close()`, "configuration");
  }
  await store.close();
}
