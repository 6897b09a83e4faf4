import { LostPlace, readOlder } from "./older.ts";
import type { Tail } from "./tail.ts";
import type { Task } from "./task.ts";

const PIECE_BYTES = 1024 * 1024;

/** Reads what is before everything that a tail knows, until it is enough or there is no more. @throws `corrupt` */
export async function readBack(task: Task, tail: Tail, isEnough: () => boolean): Promise<void> {
  if (tail.isComplete || isEnough()) {
    return;
  }
  try {
    for await (const older of readOlder(task, tail.info, tail.knownFrom, () => PIECE_BYTES)) {
      tail.prepend(older.entries, older.info);
      if (isEnough()) {
        return;
      }
    }
  } catch (error) {
    // The records of a segment that is gone are gone, and with them the need to know their ids.
    if (!(error instanceof LostPlace) || !error.isMissing) {
      task.forget(tail);
      throw error;
    }
  }
  tail.isComplete = true;
}
