import type { RedisClient } from "./client.ts";

/** How many commands go out together, at most: enough to save the system's time, few enough to keep the server busy. */
const MOST = 8;

/** How many commands each stream holds back until the end of this turn of the event loop. */
const held = new WeakMap<object, number>();

/**
 * Lets what is sent over this client until the promises at hand have been served go out in a few pieces. For calls that
 * many sessions make at once: to hand each of them to the system by itself costs more than all the rest.
 */
export function gather({ stream }: RedisClient): void {
  if (stream === undefined) {
    return;
  }
  const count = held.get(stream);
  if (count === undefined) {
    stream.cork();
    process.nextTick(() => {
      held.delete(stream);
      stream.uncork();
    });
  } else if (count === MOST) {
    stream.uncork();
    stream.cork();
  }
  held.set(stream, count === undefined || count === MOST ? 1 : count + 1);
}
