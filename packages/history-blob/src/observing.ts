import { removeEmpty } from "./deleting.ts";
import { corruptError } from "./errors.ts";
import { tagOf } from "./etags.ts";
import { holdsLife, listNewest } from "./newest.ts";
import { emptyPiece, type Parsed, parse } from "./parsing.ts";
import { decodeSegmentInfo, type SegmentInfo } from "./segment.ts";
import { DEFAULT_RECORD_BYTES, Tail } from "./tail.ts";
import type { Task } from "./task.ts";

/** The end of a conversation as it was at one moment of this call. */
export interface View {
  readonly tail: Tail;
  /** The newest entries, as many as one piece holds. */
  readonly parsed: Parsed;
  /** What the tail knows may be of a later moment. */
  readonly version: string;
}

/** A segment as a listing gives it. */
interface Listed {
  readonly info: SegmentInfo;
  readonly size: number;
  readonly etag: string;
}

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
  const newest = Math.max(tail.startOf(records), end.size - MOST_PIECE_BYTES);
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
  const { version } = isNews ? tail : new Tail(piece, undefined, parsed);
  return tail.last.seal === undefined ? { tail, parsed, version } : undefined;
}

async function locate(task: Task, known: Tail | undefined, records: number): Promise<View | undefined> {
  const { conversation } = task;
  const newest = await newestOf(task);
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
 * The newest segment. Passes over, and removes, an empty one that follows none: its writer ended after it had made it too late,
 * when all of the conversation was cleared and deleted.
 *
 * @throws `corrupt` for a blob of someone else
 */
async function newestOf(task: Task): Promise<Listed | undefined> {
  const items = await listNewest(task);
  for (const [index, { name, properties, metadata }] of items.entries()) {
    const { contentLength: size = 0, blobType, etag } = properties;
    const info = decodeSegmentInfo(task.numberOf(name), metadata);
    // An older segment may have been made a block blob, which can be cooled and archived. Not the newest.
    if (blobType !== "AppendBlob") {
      throw corruptError("a blob of another type stands under the name", `segment ${info.segment}`);
    }
    if (size > 0 || info.first === info.segment || holdsLife(items.slice(index + 1), info.life)) {
      return { info, size, etag: tagOf(etag) };
    }
    await removeEmpty(task, name, etag);
  }
  return undefined;
}

/** Reads the end of a segment until there is a turn in it; all of it where it comes behind the one that is known. */
async function readEnd(
  task: Task,
  { info, size, etag }: Listed,
  records: number,
  known: Tail | undefined,
): Promise<View | undefined> {
  const isNext = known?.info.life === info.life && known.info.segment === info.segment - 1;
  const before = isNext && known.last.seal === "next" ? known : undefined;
  const isAll = before !== undefined && size <= MOST_FIRST_BYTES;
  for (let bytes = isAll ? size : pieceBytes(records); ; bytes *= 8) {
    const start = Math.max(0, size - bytes);
    const piece = size === 0 ? emptyPiece(info, etag) : await task.read(info.segment, start);
    if (piece?.info.life !== info.life) {
      return undefined;
    }
    const parsed = parse(piece);
    if (start === 0 || parsed.entries.some(({ turn }) => turn !== undefined)) {
      // The ids that are known of the segment before stay known.
      const tail = new Tail(piece, start === 0 ? before : undefined, parsed);
      return { tail, parsed, version: tail.version };
    }
  }
}

/** The one of two that knows more: another call may have looked meanwhile. */
function later(known: Tail | undefined, seen: Tail): Tail {
  const isSame = known?.info.life === seen.info.life && known.info.segment === seen.info.segment;
  return isSame && known.end.size >= seen.end.size && known.idCount >= seen.idCount ? known : seen;
}
