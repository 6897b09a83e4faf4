import { forget, type Task } from "./observing.ts";
import { cutSegment, MissingSegment, NoSuchPlace, OlderReader } from "./older.ts";
import type { Tail } from "./tail.ts";

const PIECE_BYTES = 1024 * 1024;

/** Reads what is before everything that a tail knows, until it is enough or there is no more. @throws `corrupt` */
export async function readBack(task: Task, tail: Tail, isEnough: () => boolean): Promise<void> {
  const reader = new OlderReader(task, tail.info, tail.knownFrom);
  while (!tail.isComplete && !isEnough()) {
    const older = await reader.next(PIECE_BYTES).catch((error: unknown) => {
      if (error instanceof MissingSegment) {
        // Its records are gone, and with them the need to know their ids.
        return undefined;
      }
      forget(task.conversation, tail);
      throw error instanceof NoSuchPlace ? cutSegment("append") : error;
    });
    if (older === undefined) {
      tail.isComplete = true;
    } else {
      tail.prepend(older.entries, older.segment);
    }
  }
}
