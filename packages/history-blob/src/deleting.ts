import type { BlobListItem } from "./client.ts";
import { lifeOf, type SegmentInfo } from "./segment.ts";
import type { Task } from "./task.ts";
import { undefinedFor } from "./verdicts.ts";

const PAGE = 1_000;

/**
 * Deletes the segments up to one whose seal says that nothing counts any more, the oldest first and that one last. Once it is
 * gone someone has finished this, and what stands under the same names is another conversation's.
 */
export async function deleteCleared(task: Task, cleared: SegmentInfo): Promise<void> {
  try {
    for (const item of await segmentsUpTo(task, cleared)) {
      await task.delete(item.name, item.properties.etag);
    }
  } finally {
    task.conversation.tail = undefined;
  }
}

/** Deletes an empty segment that belongs to no conversation, if it may: it is passed over as long as it is there. */
export async function removeEmpty(task: Task, name: string, etag: string): Promise<void> {
  await task.delete(name, etag).catch(undefinedFor("refused"));
}

async function segmentsUpTo(task: Task, { segment, life, first }: SegmentInfo): Promise<BlobListItem[]> {
  const found: BlobListItem[] = [];
  let marker: string | undefined;
  do {
    const page = await task.list(PAGE, marker);
    found.push(...page.items);
    marker = page.marker;
  } while (marker !== undefined);
  const numberOf = (item: BlobListItem) => task.numberOf(item.name) ?? Number.POSITIVE_INFINITY;
  if (!found.some((item) => numberOf(item) === segment && lifeOf(item) === life)) {
    return [];
  }
  // A life that ended before may have left some that nobody was allowed to delete.
  const isOld = (item: BlobListItem) => [undefined, life].includes(lifeOf(item)) || numberOf(item) < first;
  // A listing begins with the newest.
  return found.filter((item) => numberOf(item) <= segment && isOld(item)).reverse();
}
