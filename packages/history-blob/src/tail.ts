import { DEDUPE_IDS } from "./dedupe.ts";
import type { TurnName } from "./line-format.ts";
import type { Place } from "./older.ts";
import { type End, type Entry, type Last, type Parsed, type Piece, parse } from "./parsing.ts";
import { RecentTurns } from "./recent-turns.ts";
import type { SegmentInfo } from "./segment.ts";

/** What is known of an entry without its records. */
interface Known {
  readonly info: SegmentInfo;
  readonly start: number;
  readonly ids: readonly string[];
  /** Undefined: it cannot be read. */
  readonly name: TurnName | undefined;
}

/** What a record is taken to need before any is known. */
export const DEFAULT_RECORD_BYTES = 2048;
/**
 * What a store knows of the end of a conversation: where it is, and the ids of the newest records. It may be out of date
 * at any time: each write says on what it is based, and the service refuses it when that is no longer so.
 */
export class Tail {
  readonly info: SegmentInfo;
  end: End;
  last: Last;
  /** The number of the newest turn; 0 before the first. */
  turn: number;
  /** True when nothing older is to be had. */
  isComplete: boolean;
  readonly #known: RecentTurns<Known>;

  /** The end that a piece shows. `before` is what is known of the sealed segment before, where the piece is all of the next. */
  constructor(piece: Piece, before?: Tail, { entries, front, last }: Parsed = parse(piece)) {
    const { info, end } = piece;
    this.info = info;
    this.end = end;
    this.last = last;
    this.turn = info.base;
    this.isComplete = before?.isComplete ?? (front === 0 && info.segment === info.first);
    this.#known = new RecentTurns(DEDUPE_IDS, before === undefined ? [] : before.#known.turns);
    this.#take(entries);
  }

  /** Changes with every turn, and never comes back. Empty when the conversation is over, or was never begun. */
  get version(): string {
    return this.last.seal === "cleared" || this.turn === 0 ? "" : `${this.info.life}.${this.turn}`;
  }

  get idCount(): number {
    return this.#known.idCount;
  }

  /** Where the oldest of what is known begins. */
  get knownFrom(): Place {
    const { info, start: end } = this.#known.turns[0] ?? { info: this.info, start: this.last.settled };
    return { segment: info.segment, end, info };
  }

  has(id: string): boolean {
    return this.#known.has(id);
  }

  /** How many records a turn has, if it is one of those that are known. */
  countOf({ turn, write }: TurnName): number | undefined {
    return this.#known.turns.findLast(({ name }) => name?.turn === turn && name.write === write)?.ids.length;
  }

  /** True when every turn from one on is known. */
  knowsFrom(turn: number): boolean {
    return this.#known.turns.some(({ name }) => name !== undefined && name.turn <= turn);
  }

  /** Takes in what a piece that reaches the segment's end says that is new. */
  advance({ end }: Piece, { entries, last }: Parsed): void {
    if (end.etag === this.end.etag) {
      return;
    }
    const { settled } = this.last;
    this.end = end;
    this.last = last;
    this.#take(entries.filter(({ start }) => start >= settled));
  }

  /** Takes in a turn that this store has just written. A reader may have seen it already. */
  wrote(known: Known, end: End): void {
    if (known.start >= this.last.settled && end.size > this.end.size) {
      this.#moveTo(end, { anchor: known.start });
      this.#push(known);
    }
  }

  /** Takes in that this store has just sealed the segment. */
  sealed(end: End): void {
    this.#moveTo(end, { seal: "next" });
  }

  /** Takes in that the service takes no further block: as good as a seal, unless the segment has another end than is known. */
  close(): void {
    this.last = { ...this.last, seal: "next" };
  }

  /** Takes in what is right before everything that is known. */
  prepend(entries: readonly Entry[], info: SegmentInfo): void {
    this.#known.prepend(entries.map((entry) => knownOf(entry, info)));
  }

  /**
   * Where in this segment the newest `records` begin, as far as is known; else where they may, going by the size of those
   * that are known.
   */
  startOf(records: number): number {
    let count = 0;
    for (const { info, ids, start } of this.#known.turns.toReversed()) {
      if (info.segment !== this.info.segment) {
        return 0;
      }
      count += Math.max(1, ids.length);
      if (count >= records) {
        return start;
      }
    }
    return Math.max(0, this.knownFrom.end - (records - count) * DEFAULT_RECORD_BYTES);
  }

  #moveTo(end: End, change: Partial<Last>): void {
    this.end = end;
    this.last = { ...this.last, settled: end.size, pending: undefined, tear: "", ...change };
  }

  #take(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#push(knownOf(entry, this.info));
    }
  }

  #push(known: Known): void {
    // A line that cannot be read was a turn too.
    this.turn = known.name?.turn ?? this.turn + 1;
    if (this.#known.push(known)) {
      this.isComplete = false;
    }
  }
}

function knownOf({ start, turn }: Entry, info: SegmentInfo): Known {
  return {
    info,
    start,
    ids: turn?.records.map(({ id }) => id) ?? [],
    name: turn && { turn: turn.turn, write: turn.write },
  };
}
