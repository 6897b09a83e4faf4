import type { Call } from "./call.ts";
import type { BlobListItem } from "./client.ts";
import type { Contention } from "./contention.ts";
import { removeEmpty } from "./deleting.ts";
import { corruptError } from "./errors.ts";
import { quoted } from "./etags.ts";
import { segmentNumber } from "./names.ts";
import { holdsLife, LISTED_SEGMENTS, listNewest } from "./newest.ts";
import { NOTHING, type Parsed, parse } from "./parsing.ts";
import { assertAppendBlob, decodeSegmentInfo, type SegmentInfo } from "./segment.ts";
import type { Piece, Service } from "./service.ts";
import { Tail } from "./tail.ts";

/** A conversation, and what this store knows of its end. */
export interface Conversation {
  readonly directory: string;
  /** The key as metadata, where it is needed and known: who erases knows folders only. */
  names: string | undefined;
  readonly contention: Contention;
  tail: Tail | undefined;
}

/** The end of a conversation as it was at one moment of this call. */
export interface View {
  readonly tail: Tail;
  readonly info: SegmentInfo;
  readonly segment: number;
  /** The newest entries, as many as one piece holds. */
  readonly parsed: Parsed;
  readonly version: string;
}

/** What is worked on, and with what. */
export interface Task {
  readonly call: Call;
  readonly service: Service;
  readonly conversation: Conversation;
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
  const view = tail === undefined ? undefined : await lookAgain(task, tail, records);
  return view ?? locate(task, tail, records);
}

/** Forgets what is known, unless something else has come to be known meanwhile. */
export function forget(conversation: Conversation, tail: Tail | undefined): void {
  if (conversation.tail === tail) {
    conversation.tail = undefined;
  }
}

/** Undefined: what is known is of no use, or the conversation goes on in another segment. */
async function lookAgain(
  { call, service, conversation }: Task,
  tail: Tail,
  records: number,
): Promise<View | undefined> {
  const { segment, info, size, turn } = tail;
  const newest = Math.max(tail.startOf(records, DEFAULT_RECORD_BYTES), size - MOST_PIECE_BYTES);
  // The line feed before a line is left aside with what may stand before it.
  const start = Math.max(0, Math.min(tail.anchor, newest) - 1);
  const piece = await service.read(
    call,
    { ...conversation, segment },
    start,
    size === 0 ? undefined : size + SLACK_BYTES,
  );
  if (piece === undefined || piece.info.life !== info.life || piece.size < size || !reachesEnd(piece)) {
    forget(conversation, tail);
    return undefined;
  }
  const parsed = parse(piece.bytes, start, start === 0);
  const view = viewOf(tail, piece, parsed, turn);
  if (piece.size >= tail.size) {
    tail.advance(piece, parsed);
  }
  return parsed.seal === undefined ? view : undefined;
}

async function locate(task: Task, known: Tail | undefined, records: number): Promise<View | undefined> {
  const { conversation } = task;
  const items = await withoutStrays(task, await listNewest(task));
  const [newest] = items;
  if (newest === undefined) {
    forget(conversation, known);
    return undefined;
  }
  const view = (await follow(task, known, items)) ?? (await readEnd(task, newest, records));
  if (view !== undefined) {
    const tail = later(conversation.tail, view.tail);
    conversation.tail = tail;
    return { ...view, tail };
  }
  // It was deleted between the two requests.
  return locate(task, undefined, records);
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
  const segment = segmentOf(task.conversation, newest);
  const { first, life } = decodeSegmentInfo(segment, newest.metadata);
  if (first === segment || holdsLife(older, life)) {
    return items;
  }
  await removeEmpty(task, newest.name, newest.properties.etag);
  return withoutStrays(task, older);
}

/** Goes on from a sealed segment to those after it, so that the ids that are known stay known. */
async function follow(
  { call, service, conversation }: Task,
  known: Tail | undefined,
  items: readonly BlobListItem[],
): Promise<View | undefined> {
  if (known?.seal !== "next") {
    return undefined;
  }
  const later = items.map((item) => segmentOf(conversation, item)).filter((segment) => segment > known.segment);
  const bytes = items.slice(0, later.length).reduce((sum, { properties }) => sum + (properties.contentLength ?? 0), 0);
  if (later.length === 0 || later.length === LISTED_SEGMENTS || bytes > MOST_FIRST_BYTES) {
    return undefined;
  }
  let tail = known;
  let view: View | undefined;
  for (const segment of later.reverse()) {
    const piece = await service.read(call, { ...conversation, segment }, 0);
    if (piece === undefined || piece.info.life !== known.info.life || segment !== tail.segment + 1) {
      return undefined;
    }
    const parsed = parse(piece.bytes, 0, true);
    tail = Tail.next(tail, piece);
    view = viewOf(tail, piece, parsed, piece.info.base);
    tail.advance(piece, parsed);
  }
  return view;
}

/** Reads the end of a segment that a listing gave, until there is a turn in it. */
async function readEnd(task: Task, item: BlobListItem, records: number): Promise<View | undefined> {
  const { call, service, conversation } = task;
  const segment = segmentOf(conversation, item);
  const { contentLength = 0, blobType, etag } = item.properties;
  // An older segment may have been made a block blob, which can be cooled and archived. Not the newest.
  assertAppendBlob(segment, blobType);
  if (contentLength === 0) {
    const info = decodeSegmentInfo(segment, item.metadata);
    const piece = { info, segment, start: 0, size: 0, etag: quoted(etag), blocks: 0 };
    return viewOf(new Tail(piece, NOTHING), piece, NOTHING, info.base);
  }
  for (let bytes = pieceBytes(records); ; bytes *= 8) {
    const start = Math.max(0, contentLength - bytes);
    const piece = await service.read(call, { ...conversation, segment }, start);
    if (piece === undefined) {
      return undefined;
    }
    const parsed = parse(piece.bytes, start, start === 0);
    if (parsed.entries.some(({ turn }) => turn !== undefined) || start === 0) {
      return viewOf(new Tail(piece, parsed), piece, parsed, piece.info.base);
    }
  }
}

/** `turn` is the number of the newest turn before the piece. */
function viewOf(tail: Tail, piece: Omit<Piece, "bytes">, parsed: Parsed, turn: number): View {
  const { info, segment } = piece;
  return { tail, info, segment, parsed, version: versionOf(info, parsed, turn) };
}

/** The version that a piece shows. What the tail knows may be of a later moment. */
function versionOf({ life }: SegmentInfo, { entries, seal }: Parsed, before: number): string {
  const last = entries.findLastIndex(({ turn }) => turn !== undefined);
  // A line that cannot be read was a turn too.
  const turn = (entries[last]?.turn?.turn ?? before) + (last < 0 ? 0 : entries.length - 1 - last);
  return seal === "cleared" || turn === 0 ? "" : `${life}.${turn}`;
}

/** The one of two that knows more: another call may have looked meanwhile. */
function later(known: Tail | undefined, seen: Tail): Tail {
  const isSame = known !== undefined && known.info.life === seen.info.life && known.segment === seen.segment;
  return isSame && known.size >= seen.size && known.idCount >= seen.idCount ? known : seen;
}

function reachesEnd({ start, bytes, size }: Piece): boolean {
  return start + bytes.length >= size;
}

/** The number of a listed segment. @throws `corrupt` for a blob under a name that none of ours has */
function segmentOf({ directory }: Conversation, { name }: BlobListItem): number {
  const segment = segmentNumber(name.slice(directory.length));
  if (segment === undefined) {
    throw corruptError("a blob of someone else stands among the segments", "the conversation's folder");
  }
  return segment;
}
