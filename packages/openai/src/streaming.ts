import type { Call } from "./call.ts";
import { brokenAnswer } from "./errors.ts";

/** The reason of a call that its reader ended. It never leaves this file. */
const READER_LEFT = Symbol("reader left");

/**
 * An iteration over what one call gives. `read` starts with the first `next`; `return` ends the call at once, also while
 * a `next` is waiting for the service, which a generator alone would let wait.
 */
export function cancellable<T>(
  newCall: () => Call,
  read: (call: Call) => AsyncGenerator<T, void>,
): AsyncIterableIterator<T> {
  let call: Call | undefined;
  async function* run(): AsyncGenerator<T, void> {
    call = newCall();
    try {
      yield* read(call);
    } catch (error) {
      if (error !== READER_LEFT) {
        throw error;
      }
    } finally {
      call.release();
    }
  }
  const generator = run();
  return {
    next: () => generator.next(),
    return: () => {
      call?.end(READER_LEFT);
      return generator.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/**
 * The pieces of a streamed answer, each waited for under the call's rules.
 *
 * @throws `unavailable` when the driver gave no stream, and what `Call.wait` throws.
 */
export async function* readPieces(answer: unknown, call: Call): AsyncGenerator<unknown, void> {
  if (!isAsyncIterable(answer)) {
    throw brokenAnswer("it is no stream");
  }
  const iterator = answer[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await call.wait(() => iterator.next());
      if (next.done) {
        return;
      }
      yield next.value;
    }
  } finally {
    // Not awaited: a driver that is still waiting for the service would hold up whoever stopped reading.
    Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    Symbol.asyncIterator in value &&
    typeof value[Symbol.asyncIterator] === "function"
  );
}
