import type { BlobListItem } from "./client.ts";
import { removeEmpty } from "./deleting.ts";
import { corruptError } from "./errors.ts";
import { quoted } from "./etags.ts";
import { holdsLife, listNewest } from "./newest.ts";
import { emptyPiece, type Parsed, parse } from "./parsing.ts";
import { decodeSegmentInfo, segmentPosition } from "./segment.ts";
import { Tail } from "./tail.ts";
import type { Task } from "./task.ts";

/** The end of a conversation as it was at one moment of this call. */
export interface View {
  readonly tail: Tail;
  /** The newest entries, as many as one piece holds. */
  readonly parsed: Parsed;
  /** What the tail knows may be of a later moment. */
  readonly version: string;
}

/** What a record is taken to need before any is known. */
export const DEFAULT_RECORD_BYTES = 2048;
/** What is read at once at most. A segment may be larger than what one buffer can hold. */
export const MOST_PIECE_BYTES: number = 16 * 1024 * 1024;
const LEAST_PIECE_BYTES = 32 * 1024;
const MOST_FIRST_BYTES = 4 * 1024 * 1024;
/** How much more than what is known is read again at once. */
const SLACK_BYTES = 1024 * 1024;

/** How much to read for a number of records. */
export function pieceBytes(records: number): number {
  return Number.isFinite(records)
    ? Math.min(MOST_FIRST_BYTES, Math.max(LEAST_PIECE_BYTES, records * DEFAULT_RECORD_BYTES))
    : MOST_PIECE_BYTES;
}

/**
 * Looks at the end of a conversation, at about as much as `records` need: one request where the end is known, two where
 * it is not. Undefined: there is no blob of it.
 */
export async function observe(task: Task, records: number): Promise<View | undefined> {
  const { tail } = task.conversation;
  const view = tail && (await lookAgain(task, tail, records));
  return view ?? locate(task, tail, records);
}

/** Undefined: what is known is of no use, or the conversation goes on in another segment. */
async function lookAgain(task: Task, tail: Tail, records: number): Promise<View | undefined> {
  const { info, end, last } = tail;
  const newest = Math.max(tail.startOf(records, DEFAULT_RECORD_BYTES), end.size - MOST_PIECE_BYTES);
  // The line feed before a line is left aside with what may stand before it.
  const start = Math.max(0, Math.min(last.anchor, newest) - 1);
  const piece = await task.read(info.segment, start, end.size === 0 ? undefined : end.size + SLACK_BYTES);
  const size = piece?.end.size ?? 0;
  if (piece?.info.life !== info.life || size < end.size || start + piece.bytes.length < size) {
    task.forget(tail);
    return undefined;
  }
  const parsed = parse(piece);
  const isNews = size >= tail.end.size;
  if (isNews) {
    tail.advance(piece, parsed);
  }
  const { version } = isNews ? tail : new Tail(piece, parsed);
  return parsed.last.seal === undefined ? { tail, parsed, version } : undefined;
}

async function locate(task: Task, known: Tail | undefined, records: number): Promise<View | undefined> {
  const { conversation } = task;
  const [newest] = await withoutStrays(task, await listNewest(task));
  if (newest === undefined) {
    task.forget(known);
    return undefined;
  }
  const view = await readEnd(task, newest, records, known);
  if (view === undefined) {
    // It was deleted between the two requests.
    return locate(task, undefined, records);
  }
  const tail = later(conversation.tail, view.tail);
  conversation.tail = tail;
  return { ...view, tail };
}

/**
 * Leaves out, and removes, an empty segment that follows none: its writer ended after it had made it too late, when all of
 * the conversation was cleared and deleted.
 */
async function withoutStrays(task: Task, items: readonly BlobListItem[]): Promise<readonly BlobListItem[]> {
  const [newest, ...older] = items;
  if (newest === undefined || newest.properties.contentLength !== 0 || newest.properties.blobType !== "AppendBlob") {
    return items;
  }
  const segment = segmentOf(task, newest);
  const { first, life } = decodeSegmentInfo(segment, newest.metadata);
  if (first === segment || holdsLife(older, life)) {
    return items;
  }
  await removeEmpty(task, newest.name, newest.properties.etag);
  return withoutStrays(task, older);
}

/**
 * Reads the end of a segment that a listing gave, until there is a turn in it. Where it comes behind one that is known, all of
 * it, so that the ids that are known stay known.
 */
async function readEnd(
  task: Task,
  item: BlobListItem,
  records: number,
  known: Tail | undefined,
): Promise<View | undefined> {
  const segment = segmentOf(task, item);
  const { contentLength = 0, blobType, etag } = item.properties;
  if (blobType !== "AppendBlob") {
    // An older segment may have been made a block blob, which can be cooled and archived. Not the newest.
    throw corruptError("a blob of another type stands under the name", segmentPosition(segment));
  }
  const before = known?.last.seal === "next" && known.info.segment === segment - 1 ? known : undefined;
  const isAll = before !== undefined && contentLength <= MOST_FIRST_BYTES;
  for (let bytes = isAll ? contentLength : pieceBytes(records); ; bytes *= 8) {
    const start = Math.max(0, contentLength - bytes);
    const piece =
      contentLength === 0
        ? emptyPiece(decodeSegmentInfo(segment, item.metadata), quoted(etag))
        : await task.read(segment, start);
    if (piece === undefined) {
      return undefined;
    }
    const parsed = parse(piece);
    if (start === 0 || parsed.entries.some(({ turn }) => turn !== undefined)) {
      const tail = new Tail(piece, parsed, start === 0 && before?.info.life === piece.info.life ? before : undefined);
      return { tail, parsed, version: tail.version };
    }
  }
}

/** The one of two that knows more: another call may have looked meanwhile. */
function later(known: Tail | undefined, seen: Tail): Tail {
  const isSame = known?.info.life === seen.info.life && known.info.segment === seen.info.segment;
  return isSame && known.end.size >= seen.end.size && known.idCount >= seen.idCount ? known : seen;
}

/** The number of a listed segment. @throws `corrupt` for a blob under a name that none of ours has */
function segmentOf(task: Task, item: BlobListItem): number {
  const segment = task.numberOf(item);
  if (segment === undefined) {
    throw corruptError("a blob of someone else stands among the segments", "the conversation's folder");
  }
  return segment;
}
