import { AssertionError } from "node:assert";
import type { Trial } from "./clause.ts";
import type { Opened } from "./opened.ts";

/** Idle life in seconds when `open()` offers a clock. */
const GIVEN_SECONDS = 60;

/** Idle lives in seconds when time must pass in earnest: what was too slow for one is tried with a longer one. */
const REAL_SECONDS = [2, 4, 8] as const;

/** Lets the time of one idle life pass, in shares of it. */
export interface Lifetime {
  readonly ttlSeconds: number;
  /** Lets this share of the life pass: 0.5 is half of it. */
  pass(share: number): Promise<void>;
}

/**
 * Runs a clause on expiry. With `advanceTime` it takes no time. Without it the machine may be too slow to stay within
 * a life of two seconds; then what was seen proves nothing, and it is tried again with a longer one. In the end it is
 * not covered for want of the hook.
 */
export async function withLifetime<O extends Opened>(
  trial: Trial<O>,
  run: (opened: O, lifetime: Lifetime) => Promise<void>,
): Promise<void> {
  const lives = trial.offers("advanceTime") ? [GIVEN_SECONDS] : REAL_SECONDS;
  for (const ttlSeconds of lives) {
    const opened = await trial.open({ ttlSeconds });
    const clock = opened.advanceTime === undefined ? realClock(ttlSeconds) : givenClock(opened, ttlSeconds);
    try {
      await run(opened, { ttlSeconds, pass: clock.pass });
      return;
    } catch (error) {
      if (!(error instanceof AssertionError) || !clock.wasLate()) {
        throw error;
      }
    }
  }
  const lengths = REAL_SECONDS.join(", ");
  trial.notCovered(`without advanceTime() the machine was too slow for lives of ${lengths} seconds`, "advanceTime");
}

interface Clock {
  pass(share: number): Promise<void>;
  /** True when so much more time passed than was asked for that a life may have ended in between. */
  wasLate(): boolean;
}

function givenClock(opened: Opened, ttlSeconds: number): Clock {
  return {
    pass: async (share) => {
      await opened.advanceTime?.(Math.round(share * ttlSeconds * 1_000));
    },
    wasLate: () => false,
  };
}

function realClock(ttlSeconds: number): Clock {
  const start = performance.now();
  let planned = 0;
  return {
    pass: async (share) => {
      const milliseconds = share * ttlSeconds * 1_000;
      planned += milliseconds;
      await new Promise((resolve) => setTimeout(resolve, milliseconds));
    },
    wasLate: () => performance.now() - start - planned > ttlSeconds * 200,
  };
}
