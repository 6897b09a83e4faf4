import { isAgentFrameworkError } from "@agentfw/core";
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

const AT_ONCE = 8;

/**
 * Clears all conversations of a listing, by its pages. Each page and each clear has a deadline of its own.
 *
 * @throws `corrupt` and `unsupported` for a conversation that cannot be cleared, when all others are
 */
export async function eraseListed(
  pageAt: (cursor: ListCursor | undefined) => Promise<ListedPage>,
  clear: (directory: string) => Promise<void>,
): Promise<ErasedConversations> {
  let cursor: ListCursor | undefined;
  let conversations = 0;
  let damage: unknown;
  const erase = async (directory: string) => {
    try {
      await clear(directory);
      conversations += 1;
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
    for (let at = 0; at < page.conversations.length; at += AT_ONCE) {
      const some = page.conversations.slice(at, at + AT_ONCE);
      await Promise.all(some.map(({ directory }) => erase(directory)));
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  if (damage !== undefined) {
    throw damage;
  }
  return { conversations };
}
