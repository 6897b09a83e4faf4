import { DEDUPE_IDS } from "./dedupe.ts";
import type { Seal, TurnName } from "./line-format.ts";
import type { End, Outgoing } from "./outgoing.ts";
import { type Entry, NOTHING, type Parsed, type Pending } from "./parsing.ts";
import type { SegmentInfo } from "./segment.ts";
import type { Piece } from "./service.ts";

/** What is known of an entry without its records. */
interface Known {
  readonly segment: number;
  readonly start: number;
  readonly end: number;
  readonly ids: readonly string[];
  readonly turnName: TurnName | undefined;
}

/** Above this the oldest of the ids that are kept are given up. */
const MOST_IDS = 2_000;

/** A segment of so many blocks takes no other one. */
const SERVICE_BLOCKS = 50_000;

/**
 * What a store knows of the end of a conversation: where it is, and the ids of the newest records. It may be out of date
 * at any time: each write says on what it is based, and the service refuses it when that is no longer so.
 */
export class Tail {
  readonly info: SegmentInfo;
  readonly segment: number;
  etag: string;
  size: number;
  blocks: number;
  /** The number of the newest turn; 0 before the first. */
  turn: number;
  seal: Seal | undefined;
  pending: Pending | undefined;
  isTorn: boolean;
  /** Where the segment can be read again from. */
  anchor: number;
  /** True when nothing older is to be had. */
  isComplete: boolean;
  /** Up to here everything has been looked at. */
  #settled: number;
  #known: Known[] = [];
  readonly #ids = new Map<string, number>();

  /** The end of a conversation whose newest segment is a piece of, or with nothing known before a new segment. */
  constructor(piece: Omit<Piece, "bytes">, parsed: Parsed) {
    this.info = piece.info;
    this.segment = piece.segment;
    this.etag = piece.etag;
    this.size = piece.size;
    this.blocks = piece.blocks;
    this.turn = piece.info.base;
    this.#settled = parsed.front;
    this.anchor = parsed.front;
    this.isTorn = false;
    this.isComplete = parsed.front === 0 && piece.segment === piece.info.first;
    this.advance(piece, parsed);
  }

  /** The segment after a sealed one, which nobody has written to yet. */
  static next(before: Tail | undefined, piece: Omit<Piece, "bytes">): Tail {
    const tail = new Tail(piece, NOTHING);
    if (before !== undefined) {
      tail.isComplete = before.isComplete;
      tail.#known = [...before.#known];
      for (const { ids } of before.#known) {
        tail.#remember(ids, 1);
      }
    }
    return tail;
  }

  /** Changes with every turn, and never comes back. */
  get version(): string {
    return this.turn === 0 ? "" : `${this.info.life}.${this.turn}`;
  }

  /** True when the conversation is over, or was never begun. */
  get isAbsent(): boolean {
    return this.seal === "cleared" || this.turn === 0;
  }

  get idCount(): number {
    return this.#ids.size;
  }

  /** Where the oldest of what is known begins. */
  get knownFrom(): { readonly segment: number; readonly end: number; readonly info?: SegmentInfo } {
    const [oldest] = this.#known;
    const { segment, start: end } = oldest ?? { segment: this.segment, start: this.#settled };
    return segment === this.segment ? { segment, end, info: this.info } : { segment, end };
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** How many records a turn has, if it is one of those that are known. */
  countOf({ turn, write }: TurnName): number | undefined {
    return this.#known.findLast(({ turnName }) => turnName?.turn === turn && turnName.write === write)?.ids.length;
  }

  /** True when every turn from one on is known. */
  knowsFrom(turn: number): boolean {
    return this.#known.some(({ turnName }) => turnName !== undefined && turnName.turn <= turn);
  }

  /** Takes in what a piece that reaches the segment's end says that is new. */
  advance(piece: Omit<Piece, "bytes">, parsed: Parsed): void {
    for (const entry of parsed.entries) {
      if (entry.start >= this.#settled) {
        this.#push(knownOf(entry, piece.segment));
      }
    }
    this.etag = piece.etag;
    this.size = piece.size;
    this.blocks = piece.blocks;
    this.seal = parsed.seal ?? (piece.blocks >= SERVICE_BLOCKS ? "next" : undefined);
    this.pending = parsed.pending;
    this.isTorn = parsed.isTorn;
    this.anchor = parsed.anchor;
    this.#settled = parsed.pending?.start ?? parsed.end;
  }

  /** Takes in a turn that this store has just written. A reader may have seen it already. */
  wrote({ turnName, ids, start }: Outgoing, end: End): void {
    if (start >= this.#settled && end.size > this.size) {
      this.#push({ segment: this.segment, start, end: end.size, ids, turnName });
      this.#moveTo(end);
      this.anchor = start;
    }
  }

  /** Takes in that this store has just sealed the segment. */
  sealed(end: End): void {
    this.#moveTo(end);
    this.seal = "next";
  }

  /** Takes in what is right before everything that is known. */
  prepend(entries: readonly Entry[], segment: number): void {
    const older = entries.map((entry) => knownOf(entry, segment));
    this.#known = [...older, ...this.#known];
    for (const { ids } of older) {
      this.#remember(ids, 1);
    }
  }

  /**
   * Where in this segment the newest `records` begin, as far as is known; else where they may, going by the size of those
   * that are known.
   */
  startOf(records: number, defaultRecordBytes: number): number {
    let count = 0;
    for (let at = this.#known.length - 1; at >= 0; at -= 1) {
      const known = this.#known[at];
      if (known === undefined || known.segment !== this.segment) {
        return 0;
      }
      count += Math.max(1, known.ids.length);
      if (count >= records) {
        return known.start;
      }
    }
    const from = this.#known[0]?.start ?? this.#settled;
    return Math.max(0, from - (records - count) * defaultRecordBytes);
  }

  #moveTo({ etag, size, blocks }: End): void {
    this.etag = etag;
    this.size = size;
    this.blocks = blocks;
    this.pending = undefined;
    this.isTorn = false;
    this.#settled = size;
  }

  #push(known: Known): void {
    this.#known.push(known);
    this.#remember(known.ids, 1);
    // A line that cannot be read was a turn too.
    this.turn = known.turnName?.turn ?? this.turn + 1;
    while (this.#ids.size > MOST_IDS && this.#ids.size - (this.#known[0]?.ids.length ?? 0) >= DEDUPE_IDS) {
      this.#remember(this.#known.shift()?.ids ?? [], -1);
      this.isComplete = false;
    }
  }

  #remember(ids: readonly string[], change: 1 | -1): void {
    for (const id of ids) {
      const count = (this.#ids.get(id) ?? 0) + change;
      if (count > 0) {
        this.#ids.set(id, count);
      } else {
        this.#ids.delete(id);
      }
    }
  }
}

function knownOf({ start, end, turn }: Entry, segment: number): Known {
  return { segment, start, end, ids: turn?.ids ?? [], turnName: turn && { turn: turn.turn, write: turn.write } };
}
