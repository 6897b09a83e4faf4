import { isAgentFrameworkError } from "@agentfw/core";

/** One page of what is to be cleared. */
export interface PageToClear<Item, Cursor> {
  readonly items: readonly Item[];
  /** Where the next page begins; undefined after the last one. */
  readonly cursor: Cursor | undefined;
}

const AT_ONCE = 8;

/**
 * Clears all that a listing gives, some at once, and tells how many there were: how everything of one owner is erased where no single
 * request does it. A listing must go on behind what was cleared. What has a deadline is each page and each clear, not the whole.
 *
 * @throws `corrupt` or `unsupported` for the first that cannot be cleared, when all others are; any other error at once
 */
export async function clearListed<Item, Cursor>(
  pageAt: (cursor: Cursor | undefined) => Promise<PageToClear<Item, Cursor>>,
  clear: (item: Item) => Promise<void>,
): Promise<number> {
  let cleared = 0;
  let cursor: Cursor | undefined;
  let damage: unknown;
  const clearOne = async (item: Item) => {
    try {
      await clear(item);
      cleared += 1;
    } catch (error) {
      // One that is damaged must not be in the way of the others.
      if (!isAgentFrameworkError(error, "corrupt") && !isAgentFrameworkError(error, "unsupported")) {
        throw error;
      }
      damage ??= error;
    }
  };
  do {
    const page = await pageAt(cursor);
    for (let at = 0; at < page.items.length; at += AT_ONCE) {
      await Promise.all(page.items.slice(at, at + AT_ONCE).map(clearOne));
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  if (damage !== undefined) {
    throw damage;
  }
  return cleared;
}
