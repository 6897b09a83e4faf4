import { openNext } from "./appending.ts";
import type { BlobListItem } from "./client.ts";
import { verdictOf } from "./errors.ts";
import { encodeSeal } from "./line-format.ts";
import { segmentNumber, segmentPrefix } from "./names.ts";
import { observe, type Task } from "./observing.ts";
import { withoutTear } from "./outgoing.ts";
import { jitter } from "./service.ts";

const PAUSE_MS = 20;
const PAGE = 1_000;

/**
 * Clears a conversation: it ends with a seal, which is the point in time, and then its segments are deleted, the sealed
 * one last. What is left by a call that did not come to its end reads as cleared, and goes with the next one.
 */
export async function clearConversation(task: Task): Promise<void> {
  const { call, service, conversation } = task;
  for (;;) {
    const tail = (await observe(task, 1))?.tail;
    if (tail === undefined) {
      return;
    }
    if (tail.seal === "next") {
      await openNext(task, tail);
    } else if (tail.seal === "cleared") {
      await deleteThrough(task, tail.segment);
      return;
    } else {
      const { etag, size: position, segment } = tail;
      const bytes = withoutTear(tail, encodeSeal("cleared"));
      const place = { directory: conversation.directory, segment };
      const { isDone } = await service.append(call, place, { bytes, etag, position, isCommit: true });
      conversation.tail = undefined;
      if (isDone) {
        await deleteThrough(task, segment);
        return;
      }
    }
    await call.pause(jitter(PAUSE_MS));
  }
}

/** Deletes the segments up to one whose seal says that nothing counts any more. */
async function deleteThrough(task: Task, last: number): Promise<void> {
  const { call, service, conversation } = task;
  // From here on it has happened, whatever becomes of the rest.
  call.isOpen = true;
  try {
    for (const item of await segmentsThrough(task, last)) {
      await service.delete(call, item);
    }
  } catch (error) {
    call.isLost ||= verdictOf(error) !== "refused";
    throw error;
  } finally {
    conversation.tail = undefined;
  }
}

/** The blobs of all segments up to one, oldest first. */
async function segmentsThrough({ call, service, conversation }: Task, last: number): Promise<BlobListItem[]> {
  const prefix = conversation.directory + segmentPrefix;
  const found: BlobListItem[] = [];
  let marker: string | undefined;
  do {
    const page = await service.list(call, { prefix, limit: PAGE, marker });
    found.push(...page.segment.blobItems);
    marker = page.continuationToken === "" ? undefined : page.continuationToken;
  } while (marker !== undefined);
  const isOld = ({ name }: BlobListItem) =>
    (segmentNumber(name.slice(conversation.directory.length)) ?? Number.POSITIVE_INFINITY) <= last;
  // A listing begins with the newest.
  return found.filter(isOld).reverse();
}
