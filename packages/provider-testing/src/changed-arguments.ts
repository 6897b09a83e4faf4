import { ensure, fail } from "./expect.ts";
import { show } from "./show.ts";

/** When a caller changes what it has passed: always before the call has settled. */
export const MOMENTS = ["in the turn of the call", "a microtask after the call"] as const;

/** One of {@link MOMENTS}. */
export type Moment = (typeof MOMENTS)[number];

/**
 * Makes the call, changes what was passed to it, and gives its result. A call that rejects fails the clause: what was
 * passed could be carried out, so it went by what came later.
 */
export async function whileChanging<T>(
  moment: Moment,
  name: string,
  call: () => Promise<T>,
  change: () => void,
): Promise<T> {
  try {
    const pending = call();
    if (moment === "a microtask after the call") {
      await Promise.resolve();
    }
    change();
    return await pending;
  } catch (error) {
    return fail(
      `${name}, its arguments changed ${moment}: it must go by what was passed; rejected with ${show(error)}: ` +
        "copy the arguments before the first await",
    );
  }
}

/** What is said of the outcome of a call whose arguments were changed. */
export function changed(name: string, moment: Moment): string {
  return `${name}, its arguments changed ${moment}`;
}

/** Tries to change a result. That it is frozen and throws is as good. */
export function silently(change: () => unknown): void {
  try {
    change();
  } catch (error) {
    ensure(error instanceof TypeError, "only a frozen object may refuse a change", error);
  }
}
