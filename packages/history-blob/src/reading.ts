import type { HistoryPage, HistoryRecord } from "@agentfw/core";
import { type Cursor, encodeCursor, noCursor } from "./cursor.ts";
import { corruptError, failure } from "./errors.ts";
import { decodeRecords } from "./line-format.ts";
import { DEFAULT_RECORD_BYTES, MOST_PIECE_BYTES, observe, pieceBytes, type Task, type View } from "./observing.ts";
import { cutSegment, MissingSegment, NoSuchPlace, OlderReader, type Place } from "./older.ts";
import { type Entry, parse } from "./parsing.ts";
import { type SegmentInfo, segmentPosition } from "./segment.ts";

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
  readonly segment: number;
  readonly info: SegmentInfo;
}

const EMPTY_PAGE: HistoryPage = { records: [], version: "" };
const FIRST_RECORD_BYTES = 16 * 1024;
/** A conversation that is cleared or moved under a reader is read again; this often in a row it is not. */
const MOST_RESTARTS = 5;

/** Reads a page. The input has been checked. @throws `corrupt`, `conflict`, `configuration` */
export async function readPage(task: Task, input: ReadInput): Promise<HistoryPage> {
  const { last, cursor } = input;
  for (let restarts = 0; ; restarts += 1) {
    const view = await observe(task, cursor === undefined ? last : 1);
    if (cursor !== undefined && (view === undefined || view.version === "" || view.info.life !== cursor.life)) {
      throw failure("conflict", "before: the record that the cursor points at is no longer stored", {
        currentVersion: view?.version ?? "",
      });
    }
    if (view === undefined || view.version === "") {
      return input.skipsCorrupt ? { ...EMPTY_PAGE, corrupt: [] } : EMPTY_PAGE;
    }
    const page = new PageReader(task, view, input);
    try {
      return await page.read();
    } catch (error) {
      if (isOfCursor(error, cursor, view)) {
        throw noCursor();
      }
      if (error instanceof NoSuchPlace) {
        return page.readWithout(error.segment, cutSegment("read"));
      }
      if (!(error instanceof MissingSegment) || restarts === MOST_RESTARTS) {
        throw error;
      }
      // Cleared meanwhile, or a part of the conversation is missing: the next look tells.
      const again = await observe(task, 1);
      if (again?.info.life === view.info.life && again.version !== "") {
        const position = positionFrom(error.segment);
        return page.readWithout(error.segment, corruptError("read: a part of the conversation is missing", position));
      }
    }
  }
}

/** True when a place is not there because the cursor names it, and not because of what is stored. */
function isOfCursor(error: unknown, cursor: Cursor | undefined, { info, segment }: View): boolean {
  if (cursor === undefined) {
    return false;
  }
  const isNone = cursor.segment > segment || cursor.segment < info.first;
  return (
    (error instanceof NoSuchPlace && error.segment === cursor.segment) || (error instanceof MissingSegment && isNone)
  );
}

class PageReader {
  readonly #task: Task;
  readonly #view: View;
  readonly #input: ReadInput;
  /** Oldest first. */
  #slots: Slot[] = [];

  constructor(task: Task, view: View, input: ReadInput) {
    this.#task = task;
    this.#view = view;
    this.#input = input;
  }

  async read(): Promise<HistoryPage> {
    const { last, cursor, withFirst } = this.#input;
    const { info, segment, parsed } = this.#view;
    const { front: end, frontFrom } = parsed;
    const place = cursor ?? { segment, end, info, frontFrom };
    this.#slots = cursor === undefined ? slotsOf(parsed.entries, segment, info) : [];
    const reader = new OlderReader(this.#task, info, place);
    let behind = cursor?.behind ?? 0;
    while (this.#slots.length < last) {
      const older = await reader.next(this.#nextBytes(last));
      if (older === undefined) {
        break;
      }
      const slots = slotsOf(older.entries, older.segment, older.info);
      if (behind >= slots.length) {
        throw new NoSuchPlace(older.segment);
      }
      this.#slots = [...slots.slice(0, slots.length - behind), ...this.#slots];
      behind = 0;
    }
    this.#slots = this.#slots.slice(-last);
    return this.#page(withFirst ? await this.#first() : undefined, []);
  }

  /** The page up to a segment that cannot be read. @throws the error unless damage is skipped */
  async readWithout(segment: number, error: Error): Promise<HistoryPage> {
    if (!this.#input.skipsCorrupt) {
      throw error;
    }
    return this.#page(undefined, [positionFrom(segment)]);
  }

  #nextBytes(last: number): number {
    const missing = last - this.#slots.length;
    const [oldest] = this.#slots;
    if (!Number.isFinite(missing) || oldest === undefined) {
      return Math.min(MOST_PIECE_BYTES, pieceBytes(missing));
    }
    const bytes = this.#slots.reduce((sum, { record }) => sum + (record?.data.length ?? DEFAULT_RECORD_BYTES), 0);
    return Math.min(MOST_PIECE_BYTES, pieceBytes(missing) + ((2 * bytes) / this.#slots.length) * missing);
  }

  async #first(): Promise<Slot | undefined> {
    const { info } = this.#view;
    const [oldest] = this.#slots;
    if (oldest !== undefined && olderThan(oldest) === undefined) {
      return oldest;
    }
    return firstSlot(this.#task, info);
  }

  #page(first: Slot | undefined, missing: readonly string[]): HistoryPage {
    const { skipsCorrupt } = this.#input;
    const [oldest] = this.#slots;
    const looked = first === undefined || first === oldest ? this.#slots : [first, ...this.#slots];
    const corrupt = [...missing, ...looked.filter(({ record }) => record === undefined).map(positionOf)];
    if (corrupt[0] !== undefined && !skipsCorrupt) {
      throw corruptError("read: a stored record cannot be read", corrupt[0]);
    }
    const older = oldest === undefined || missing.length > 0 ? undefined : olderThan(oldest);
    return {
      records: this.#slots.flatMap(({ record }) => record ?? []),
      version: this.#view.version,
      ...(older === undefined ? {} : { older }),
      ...(first?.record === undefined ? {} : { first: first.record }),
      ...(skipsCorrupt ? { corrupt } : {}),
    };
  }
}

/** The first record of a conversation. */
async function firstSlot(task: Task, { first, life }: SegmentInfo): Promise<Slot | undefined> {
  const { call, service, conversation } = task;
  for (let bytes = FIRST_RECORD_BYTES; ; bytes *= 8) {
    const piece = await service.read(call, { directory: conversation.directory, segment: first }, 0, bytes);
    if (piece === undefined || piece.info.life !== life) {
      throw new MissingSegment(first);
    }
    const isAll = piece.bytes.length >= piece.size;
    const { entries, isTorn } = parse(piece.bytes, 0, true);
    // The last line may have been cut by the piece's end.
    const whole = isTorn && !isAll ? entries.slice(0, -1) : entries;
    if (whole.length > 0 || isAll) {
      return slotsOf(whole.slice(0, 1), first, piece.info)[0];
    }
  }
}

/** The cursor to what is older than a record. Undefined: there is nothing. */
function olderThan({ entry, index, segment, info }: Slot): string | undefined {
  const cursor = (place: Place, behind: number) => encodeCursor({ life: info.life, ...place, behind });
  if (index > 0) {
    return cursor({ segment, end: entry.end }, (entry.turn?.ids.length ?? 1) - index);
  }
  if (entry.turn?.turn === 1) {
    return undefined;
  }
  if (entry.start > 0) {
    return cursor({ segment, end: entry.start }, 0);
  }
  return segment > info.first ? cursor({ segment: segment - 1, end: info.before }, 0) : undefined;
}

function slotsOf(entries: readonly Entry[], segment: number, info: SegmentInfo): Slot[] {
  return entries.flatMap((entry) => {
    const records = entry.turn === undefined ? [undefined] : decodeRecords(entry.turn);
    return records.map((record, index) => ({ record, entry, index, segment, info }));
  });
}

function positionFrom(segment: number): string {
  return `${segmentPosition(segment)} and what was before it`;
}

function positionOf({ segment, entry, index }: Slot): string {
  const position = segmentPosition(segment, entry.start);
  return entry.turn === undefined ? position : `${position}, record ${index}`;
}
