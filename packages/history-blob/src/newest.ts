import type { BlobListItem } from "./client.ts";
import { segmentPrefix } from "./names.ts";
import type { Task } from "./observing.ts";
import { lifeOf } from "./segment.ts";

/** How many of the newest segments a listing gives. */
export const LISTED_SEGMENTS = 5;

/** The newest segments of a conversation, the newest first: one of them only where there are no more. */
export async function listNewest({ call, service, conversation }: Task): Promise<readonly BlobListItem[]> {
  const prefix = conversation.directory + segmentPrefix;
  const { segment, continuationToken = "" } = await service.list(call, { prefix, limit: LISTED_SEGMENTS });
  if (segment.blobItems.length !== 1 || continuationToken === "") {
    return segment.blobItems;
  }
  // The service may end a page where it likes.
  const next = await service.list(call, { prefix, limit: LISTED_SEGMENTS - 1, marker: continuationToken });
  return [...segment.blobItems, ...next.segment.blobItems];
}

/** True when one of the segments belongs to a life. */
export function holdsLife(items: readonly BlobListItem[], life: string): boolean {
  return items.some(({ metadata }) => lifeOf(metadata) === life);
}
