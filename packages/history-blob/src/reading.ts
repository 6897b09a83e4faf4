import type { HistoryPage, HistoryRecord } from "@agentfw/core";
import { type Cursor, encodeCursor, noCursor } from "./cursor.ts";
import { corruptError, failure } from "./errors.ts";
import { decodeRecords } from "./line-format.ts";
import { MOST_PIECE_BYTES, observe, pieceBytes, type View } from "./observing.ts";
import { LostPlace, readOlder } from "./older.ts";
import { type Entry, parse } from "./parsing.ts";
import type { SegmentInfo } from "./segment.ts";
import { DEFAULT_RECORD_BYTES } from "./tail.ts";
import type { Task } from "./task.ts";

/** What is to be read. */
export interface ReadInput {
  readonly last: number;
  readonly cursor: Cursor | undefined;
  readonly withFirst: boolean;
  readonly skipsCorrupt: boolean;
}

/** One record where it stands. Without a record it cannot be read. */
interface Slot {
  readonly record: HistoryRecord | undefined;
  readonly entry: Entry;
  readonly index: number;
  readonly info: SegmentInfo;
}

/** What a page is made of. */
interface Found {
  /** Oldest first. */
  readonly slots: readonly Slot[];
  readonly first?: Slot | undefined;
  /** What stands in the way of all that is older. */
  readonly lost?: LostPlace;
}

const FIRST_RECORD_BYTES = 16 * 1024;
/** A conversation that is cleared under a reader is read again; more often in a row it is not. */
const MOST_TRIES = 6;

/** Reads a page. The input has been checked. @throws `corrupt`, `conflict`, `configuration` */
export async function readPage(task: Task, input: ReadInput): Promise<HistoryPage> {
  const { last, cursor, skipsCorrupt } = input;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const view = await observe(task, cursor === undefined ? last : 1);
    const version = view?.version ?? "";
    if (cursor !== undefined && (version === "" || view?.tail.info.life !== cursor.life)) {
      const message = "before: the record that the cursor points at is no longer stored";
      throw failure("conflict", message, { currentVersion: version });
    }
    if (view === undefined || version === "") {
      return { records: [], version: "", ...(skipsCorrupt ? { corrupt: [] } : {}) };
    }
    const found = await find(task, view, input);
    if (found !== undefined) {
      return pageOf(found, version, skipsCorrupt);
    }
  }
  throw failure("unavailable", "read: the conversation was cleared again and again meanwhile");
}

/** Undefined: the conversation is not the one any more that was seen. */
async function find(task: Task, view: View, input: ReadInput): Promise<Found | undefined> {
  const { last, cursor, withFirst } = input;
  const { info } = view.tail;
  let slots: readonly Slot[] = [];
  try {
    for await (const older of backwards(task, view, cursor, () => nextBytes(slots, last))) {
      slots = [...older, ...slots];
      if (slots.length >= last) {
        break;
      }
    }
    slots = slots.slice(-last);
    return { slots, first: withFirst ? await findFirst(task, info, slots[0]) : undefined };
  } catch (error) {
    if (!(error instanceof LostPlace)) {
      throw error;
    }
    if (cursor !== undefined && isOfCursor(error, cursor, info)) {
      throw noCursor();
    }
    // Cleared meanwhile, or a part of the conversation is missing: the next look tells.
    const again = error.isMissing ? await observe(task, 1) : view;
    const isStillThere = again?.tail.info.life === info.life && again.version !== "";
    return isStillThere ? { slots, lost: error } : undefined;
  }
}

/** Runs of slots, the newest first. */
async function* backwards(
  task: Task,
  { tail: { info }, parsed }: View,
  cursor: Cursor | undefined,
  bytesOf: () => number,
): AsyncGenerator<readonly Slot[]> {
  if (cursor === undefined) {
    yield slotsOf(parsed.entries, info);
  }
  const { front: end, frontFrom } = parsed;
  let behind = cursor?.behind ?? 0;
  for await (const older of readOlder(task, info, cursor ?? { segment: info.segment, end, info, frontFrom }, bytesOf)) {
    const slots = slotsOf(older.entries, older.info);
    if (behind >= slots.length) {
      throw new LostPlace(older.info.segment, false);
    }
    yield slots.slice(0, slots.length - behind);
    behind = 0;
  }
}

/** True when a place is not there because the cursor names it, and not because of what is stored. */
function isOfCursor({ isMissing, segment }: LostPlace, cursor: Cursor, newest: SegmentInfo): boolean {
  return isMissing ? cursor.segment > newest.segment || cursor.segment < newest.first : segment === cursor.segment;
}

function nextBytes(slots: readonly Slot[], last: number): number {
  const missing = last - slots.length;
  const bytes = slots.reduce((sum, { record }) => sum + (record?.data.length ?? DEFAULT_RECORD_BYTES), 0);
  const guess = slots.length === 0 ? 0 : ((2 * bytes) / slots.length) * missing;
  return Math.min(MOST_PIECE_BYTES, pieceBytes(missing) + guess);
}

function pageOf({ slots, first, lost }: Found, version: string, skipsCorrupt: boolean): HistoryPage {
  const [oldest] = slots;
  const looked = first === undefined || first === oldest ? slots : [first, ...slots];
  const unreadable = looked.filter(({ record }) => record === undefined).map(positionOf);
  if (!skipsCorrupt && lost !== undefined) {
    throw lost;
  }
  if (!skipsCorrupt && unreadable[0] !== undefined) {
    throw corruptError("read: a stored record cannot be read", unreadable[0]);
  }
  const corrupt = [lost?.position ?? [], unreadable].flat();
  const older = oldest === undefined || lost !== undefined ? undefined : olderThan(oldest);
  return {
    records: slots.flatMap(({ record }) => record ?? []),
    version,
    ...(older === undefined ? {} : { older }),
    ...(first?.record === undefined ? {} : { first: first.record }),
    ...(skipsCorrupt ? { corrupt } : {}),
  };
}

/** The first record of a conversation, which may be the oldest that is known. */
async function findFirst(
  task: Task,
  { first, life }: SegmentInfo,
  oldest: Slot | undefined,
): Promise<Slot | undefined> {
  if (oldest !== undefined && olderThan(oldest) === undefined) {
    return oldest;
  }
  for (let bytes = FIRST_RECORD_BYTES; ; bytes *= 8) {
    const piece = await task.read(first, 0, bytes);
    if (piece?.info.life !== life) {
      throw new LostPlace(first, true);
    }
    const isAll = piece.bytes.length >= piece.end.size;
    const { entries, last } = parse(piece);
    // The last line may have been cut by the piece's end.
    const whole = isAll || last.tear === "" ? entries : entries.slice(0, -1);
    if (whole.length > 0 || isAll) {
      return slotsOf(whole.slice(0, 1), piece.info)[0];
    }
  }
}

/** The cursor to what is older than a record. Undefined: there is nothing. */
function olderThan({ entry, index, info }: Slot): string | undefined {
  const { life, segment, first, before } = info;
  if (index > 0) {
    return encodeCursor({ life, segment, end: entry.end, behind: (entry.turn?.records.length ?? 1) - index });
  }
  if (entry.turn?.turn === 1) {
    return undefined;
  }
  if (entry.start > 0) {
    return encodeCursor({ life, segment, end: entry.start, behind: 0 });
  }
  return segment > first ? encodeCursor({ life, segment: segment - 1, end: before, behind: 0 }) : undefined;
}

function slotsOf(entries: readonly Entry[], info: SegmentInfo): Slot[] {
  return entries.flatMap((entry) => {
    const records = entry.turn === undefined ? [undefined] : decodeRecords(entry.turn);
    return records.map((record, index) => ({ record, entry, index, info }));
  });
}

function positionOf({ info, entry, index }: Slot): string {
  const position = `segment ${info.segment}, byte ${entry.start}`;
  return entry.turn === undefined ? position : `${position}, record ${index}`;
}
