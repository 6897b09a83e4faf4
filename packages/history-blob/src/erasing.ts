import { assertListFilter, assertObject, isAgentFrameworkError } from "@agentfw/core";
import type { ListCursor } from "./list-cursor.ts";
import type { ListedPage } from "./listing.ts";

/** Whose conversations are erased. */
export interface EraseFilter {
  /** `null` for the conversations without an owner. */
  readonly owner: string | null;
}

/** What was erased. */
export interface ErasedConversations {
  readonly conversations: number;
}

/** How the store is asked: each of them has a deadline of its own. */
export interface Erasing {
  page(owner: string | null, limit: number, cursor: ListCursor | undefined): Promise<ListedPage>;
  clear(directory: string): Promise<void>;
}

const PAGE = 100;
const AT_ONCE = 8;

/**
 * Clears the conversations of an owner.
 *
 * @throws `configuration` without an owner; `corrupt` and `unsupported` for a conversation that cannot be cleared, when all
 * others are
 */
export async function eraseOwner(filter: EraseFilter, { page, clear }: Erasing): Promise<ErasedConversations> {
  assertObject(filter, "filter");
  const { owner } = filter;
  assertListFilter({ owner });
  let cursor: ListCursor | undefined;
  let conversations = 0;
  const left: unknown[] = [];
  const erase = async (directory: string) => {
    try {
      await clear(directory);
      conversations += 1;
    } catch (error) {
      // One that is damaged must not be in the way of the others.
      if (!isAgentFrameworkError(error, "corrupt") && !isAgentFrameworkError(error, "unsupported")) {
        throw error;
      }
      left.push(error);
    }
  };
  do {
    const found = await page(owner, PAGE, cursor);
    for (let at = 0; at < found.conversations.length; at += AT_ONCE) {
      const some = found.conversations.slice(at, at + AT_ONCE);
      await Promise.all(some.map(({ directory }) => erase(directory)));
    }
    cursor = found.cursor;
  } while (cursor !== undefined);
  if (left.length > 0) {
    throw left[0];
  }
  return { conversations };
}
