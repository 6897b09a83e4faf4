import { deleteCleared } from "./deleting.ts";
import { encodeSeal } from "./line-format.ts";
import { openNext } from "./next-segment.ts";
import { observe } from "./observing.ts";
import type { Task } from "./task.ts";
import { undefinedFor } from "./verdicts.ts";

const PAUSE_MS = 20;

/**
 * Clears a conversation: it ends with a seal, which is the point in time, and then its segments are deleted, the sealed
 * one last. What is left by a call that did not come to its end reads as cleared, and goes with the next one.
 */
export async function clearConversation(task: Task): Promise<void> {
  for (;;) {
    const tail = (await observe(task, 1))?.tail;
    if (tail === undefined) {
      return;
    }
    const { info, end, last } = tail;
    let isCleared = last.seal === "cleared";
    if (last.seal === "next") {
      await openNext(task, tail);
    } else if (!isCleared) {
      const sealed = task.append(info.segment, end, encodeSeal("cleared", last.tear), true);
      isCleared = (await sealed.catch(undefinedFor("condition", "no-blob", "full"))) !== undefined;
      task.conversation.tail = undefined;
    }
    if (isCleared) {
      // What becomes of the rest says nothing about that.
      task.call.done();
      return deleteCleared(task, info);
    }
    await task.call.pause(PAUSE_MS);
  }
}
