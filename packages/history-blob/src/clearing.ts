import { type ClearedEnd, deleteCleared } from "./deleting.ts";
import { encodeSeal } from "./line-format.ts";
import { openNext } from "./next-segment.ts";
import { observe, type Task } from "./observing.ts";
import { withoutTear } from "./outgoing.ts";
import { jitter } from "./service.ts";
import { verdictOf } from "./verdicts.ts";

const PAUSE_MS = 20;

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
      await deleteAll(task, tail);
      return;
    } else {
      const { etag, size: position, segment } = tail;
      const bytes = withoutTear(tail, encodeSeal("cleared"));
      const place = { directory: conversation.directory, segment };
      const { isDone } = await service.append(call, place, { bytes, etag, position, isCommit: true });
      conversation.tail = undefined;
      if (isDone) {
        await deleteAll(task, tail);
        return;
      }
    }
    await call.pause(jitter(PAUSE_MS));
  }
}

/** Deletes what is cleared, and says what it means when that fails. */
async function deleteAll(task: Task, cleared: ClearedEnd): Promise<void> {
  const { call } = task;
  // From here on it has happened, whatever becomes of the rest.
  call.isOpen = true;
  try {
    await deleteCleared(task, cleared);
  } catch (error) {
    call.isLost ||= verdictOf(error) !== "refused";
    throw error;
  }
}
