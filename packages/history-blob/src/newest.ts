import type { BlobListItem } from "./client.ts";
import { lifeOf } from "./segment.ts";
import type { Task } from "./task.ts";

/** How many of the newest segments a listing gives: the older ones tell whether the newest belongs to them. */
const LISTED_SEGMENTS = 5;

/** The newest segments of a conversation, the newest first: one of them only where there are no more. */
export async function listNewest(task: Task): Promise<readonly BlobListItem[]> {
  const { items, marker } = await task.list(LISTED_SEGMENTS);
  // The service may end a page where it likes.
  const hasMore = items.length === 1 && marker !== undefined;
  return hasMore ? [...items, ...(await task.list(LISTED_SEGMENTS, marker)).items] : items;
}

/** True when one of the segments belongs to a life. */
export function holdsLife(items: readonly BlobListItem[], life: string): boolean {
  return items.some((item) => lifeOf(item) === life);
}
