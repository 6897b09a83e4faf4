import { stateError } from "./errors.ts";
import type { StateStoreItemKey, StateStoreItemKeyPage } from "./types.ts";

/**
 * All keys of the pages that `pageAfter` gives, one page at a time. Ends where a page says that there are no more, or has no cursor.
 *
 * @throws `unavailable` when the same page comes again, and what `pageAfter` throws
 */
export async function* everyKey(
  pageAfter: (after: string | undefined) => Promise<StateStoreItemKeyPage>,
): AsyncGenerator<StateStoreItemKey, void, undefined> {
  let after: string | undefined;
  for (;;) {
    const { keys, hasMore, lastId } = await pageAfter(after);
    yield* keys;
    if (!hasMore || lastId === undefined) {
      return;
    }
    if (lastId === after) {
      throw stateError("unavailable", "iterateItemKeys: the service gave the same page again");
    }
    after = lastId;
  }
}
