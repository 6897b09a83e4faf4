import { removeEmpty } from "./deleting.ts";
import { segmentName } from "./names.ts";
import { holdsLife, listNewest } from "./newest.ts";
import { forget, type Task } from "./observing.ts";
import { Tail } from "./tail.ts";

/**
 * Makes the segment after one that is closed. Gives the tail of it, empty, where this call made it; undefined means that
 * one must look again.
 */
export async function openNext(task: Task, tail: Tail): Promise<Tail | undefined> {
  const { call, service, conversation } = task;
  const { info, segment, size, turn } = tail;
  const place = { directory: conversation.directory, segment: segment + 1 };
  const next = { life: info.life, first: info.first, before: size, base: turn };
  const etag = await service.create(call, place, next, conversation.names);
  if (etag === undefined) {
    return undefined;
  }
  // A clear may have come and gone before. Where an older segment is there now, none has, and one that comes finds both.
  const [, ...older] = await listNewest(task);
  if (!holdsLife(older, info.life)) {
    forget(conversation, tail);
    await removeEmpty(task, segmentName(conversation.directory, segment + 1), etag);
    return undefined;
  }
  conversation.tail = Tail.next(tail, { info: next, segment: segment + 1, start: 0, size: 0, etag, blocks: 0 });
  return conversation.tail;
}
