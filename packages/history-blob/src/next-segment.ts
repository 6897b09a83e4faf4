import { removeEmpty } from "./deleting.ts";
import { segmentName } from "./names.ts";
import { holdsLife, listNewest } from "./newest.ts";
import { Tail } from "./tail.ts";
import type { Task } from "./task.ts";

/**
 * Makes the segment after one that is closed. Gives the tail of it, empty, where this call made it; undefined means that
 * one must look again.
 */
export async function openNext(task: Task, tail: Tail): Promise<Tail | undefined> {
  const { info, end, turn } = tail;
  const made = await task.create({ ...info, segment: info.segment + 1, before: end.size, base: turn });
  if (made === undefined) {
    return undefined;
  }
  // A clear may have come and gone before. Where an older segment is there now, none has, and one that comes finds both.
  const [, ...older] = await listNewest(task);
  if (!holdsLife(older, info.life)) {
    task.forget(tail);
    await removeEmpty(task, segmentName(task.conversation.directory, made.info.segment), made.end.etag);
    return undefined;
  }
  task.conversation.tail = new Tail(made, tail);
  return task.conversation.tail;
}
