import type { BlobListItem } from "./client.ts";
import { segmentNumber, segmentPrefix } from "./names.ts";
import type { Task } from "./observing.ts";
import { lifeOf, type SegmentInfo } from "./segment.ts";
import { verdictOf } from "./verdicts.ts";

const PAGE = 1_000;

/** The segment that ends with the seal of a clear. */
export interface ClearedEnd {
  readonly segment: number;
  readonly info: SegmentInfo;
}

/**
 * Deletes the segments up to one whose seal says that nothing counts any more, the oldest first and that one last. Once it is
 * gone someone has finished this, and what stands under the same names is another conversation's.
 */
export async function deleteCleared(task: Task, cleared: ClearedEnd): Promise<void> {
  const { call, service, conversation } = task;
  try {
    for (const item of await segmentsOf(task, cleared)) {
      await service.delete(call, item.name, item.properties.etag);
    }
  } finally {
    conversation.tail = undefined;
  }
}

/** Deletes an empty segment that belongs to no conversation, if it may: it is passed over as long as it is there. */
export async function removeEmpty({ call, service }: Task, name: string, etag: string): Promise<void> {
  await service.delete(call, name, etag).catch((error: unknown) => {
    if (verdictOf(error) !== "refused") {
      throw error;
    }
  });
}

async function segmentsOf(task: Task, { segment: last, info }: ClearedEnd): Promise<BlobListItem[]> {
  const { directory } = task.conversation;
  // A listing begins with the newest.
  const found = (await listSegments(task)).reverse();
  const numberOf = ({ name }: BlobListItem) => segmentNumber(name.slice(directory.length)) ?? Number.POSITIVE_INFINITY;
  if (!found.some((item) => numberOf(item) === last && lifeOf(item.metadata) === info.life)) {
    return [];
  }
  return found.filter((item) => {
    const life = lifeOf(item.metadata);
    // A life that ended before may have left some that nobody was allowed to delete.
    const isOld = life === undefined || life === info.life || numberOf(item) < info.first;
    return isOld && numberOf(item) <= last;
  });
}

async function listSegments({ call, service, conversation }: Task): Promise<BlobListItem[]> {
  const prefix = conversation.directory + segmentPrefix;
  const found: BlobListItem[] = [];
  let marker: string | undefined;
  do {
    const page = await service.list(call, { prefix, limit: PAGE, marker });
    found.push(...page.segment.blobItems);
    marker = page.continuationToken === "" ? undefined : page.continuationToken;
  } while (marker !== undefined);
  return found;
}
