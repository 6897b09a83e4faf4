import {
  decodeLine,
  decodeTurn,
  lineFrom,
  type PartLine,
  type Seal,
  type TurnLine,
  type TurnName,
} from "./line-format.ts";

/** One line or one run of parts that stands for records. Without a turn it cannot be read. */
export interface Entry {
  /** Its first byte in the segment. */
  readonly start: number;
  /** The first byte behind it. */
  readonly end: number;
  readonly turn: TurnLine | undefined;
}

/** A run of parts at the end whose last part is not there yet. */
export interface Pending extends TurnName {
  /** Where its first part begins. */
  readonly start: number;
}

/** What a piece of a segment holds. */
export interface Parsed {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  /** Where the first line that was looked at begins; what the piece holds before it belongs to what is older. */
  readonly front: number;
  /** Where the older piece must begin at the latest, because it ends with parts of a turn that begin there. */
  readonly frontFrom: number | undefined;
  /** Where the last line begins, or the run of parts that is not over. From there on one can read again. */
  readonly anchor: number;
  /** The first byte behind the piece. */
  readonly end: number;
  readonly seal: Seal | undefined;
  readonly pending: Pending | undefined;
  /** True when the last line has no line feed, which none of the store's has. */
  readonly isTorn: boolean;
}

/** What an empty segment holds. */
export const NOTHING: Parsed = {
  entries: [],
  front: 0,
  frontFrom: undefined,
  anchor: 0,
  end: 0,
  seal: undefined,
  pending: undefined,
  isTorn: false,
};

/** Takes a piece of a segment apart. Unless it begins at a line, everything up to its first line feed is left aside. */
export function parse(bytes: Buffer, start: number, isAtLine: boolean): Parsed {
  const skipped = isAtLine ? 0 : (lineFrom(bytes, 0)?.length ?? bytes.length - 1) + 1;
  const reader = new PieceReader(start + skipped);
  for (let offset = skipped; offset < bytes.length && reader.seal === undefined; ) {
    const line = lineFrom(bytes, offset);
    const end = line === undefined ? bytes.length : offset + line.length + 1;
    reader.take(line, start + offset, start + end);
    offset = end;
  }
  return reader.result(start + bytes.length);
}

class PieceReader {
  seal: Seal | undefined;
  readonly #entries: Entry[] = [];
  #front: number;
  #frontFrom: number | undefined;
  #anchor: number;
  #isTorn = false;
  /** Parts that may become a turn. */
  #run: { readonly first: PartLine; readonly start: number; readonly texts: string[] } | undefined;

  constructor(front: number) {
    this.#front = front;
    this.#anchor = front;
  }

  take(bytes: Buffer | undefined, start: number, end: number): void {
    const line = bytes === undefined ? undefined : decodeLine(bytes);
    this.#isTorn = bytes === undefined;
    if (line?.kind === "part") {
      this.#takePart(line.part, start, end);
      return;
    }
    this.#run = undefined;
    this.#anchor = start;
    if (line?.kind === "seal") {
      this.seal = line.seal;
    } else {
      this.#entries.push({ start, end, turn: line?.turn });
    }
  }

  result(end: number): Parsed {
    const run = this.#run;
    return {
      entries: this.#entries,
      front: this.#front,
      frontFrom: this.#frontFrom,
      anchor: run?.start ?? this.#anchor,
      end,
      seal: this.seal,
      pending: run && { turn: run.first.turn, write: run.first.write, start: run.start },
      isTorn: this.#isTorn,
    };
  }

  #takePart(part: PartLine, start: number, end: number): void {
    const run = this.#run;
    if (part.part === 0) {
      this.#run = { first: part, start, texts: [part.text] };
    } else if (run !== undefined && part.part === run.texts.length && isSameRun(part, run.first)) {
      run.texts.push(part.text);
    } else {
      this.#run = undefined;
      // Its turn began before this piece. In the middle of one it is what a writer left that came too late.
      if (this.#front === start && this.#entries.length === 0) {
        this.#front = end;
        this.#frontFrom = part.from;
      }
    }
    this.#anchor = start;
    this.#closeRun(end);
  }

  #closeRun(end: number): void {
    const run = this.#run;
    if (run !== undefined && run.texts.length === run.first.parts) {
      this.#entries.push({ start: run.start, end, turn: decodeTurn(Buffer.from(run.texts.join(""))) });
      this.#anchor = run.start;
      this.#run = undefined;
    }
  }
}

function isSameRun(one: PartLine, other: PartLine): boolean {
  return one.from === other.from && one.turn === other.turn && one.write === other.write && one.parts === other.parts;
}
