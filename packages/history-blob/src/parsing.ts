import { decodeLine, decodeTurn, type PartLine, type SealLine, type TurnLine } from "./line-format.ts";
import type { SegmentInfo } from "./segment.ts";

/** The end of a segment: what a write is conditional on. */
export interface End {
  readonly etag: string;
  readonly size: number;
  readonly blocks: number;
}

/** A piece of a segment, and the segment's end when it was asked for. */
export interface Piece {
  readonly info: SegmentInfo;
  readonly start: number;
  readonly bytes: Buffer;
  readonly end: End;
}

/** All of a segment that nobody has written to. */
export function emptyPiece(info: SegmentInfo, etag: string): Piece {
  return { info, start: 0, bytes: Buffer.alloc(0), end: { etag, size: 0, blocks: 0 } };
}

/** One line or one run of parts that stands for records. Without a turn it cannot be read. */
export interface Entry {
  /** Its first byte in the segment. */
  readonly start: number;
  /** The first byte behind it. */
  readonly end: number;
  readonly turn: TurnLine | undefined;
}

/** How a piece of a segment ends. */
export interface Last {
  /** Where the last line begins, or the run of parts that is not over. From there on one can read again. */
  readonly anchor: number;
  /** The first byte behind everything that is not of a run of parts that is not over. */
  readonly settled: number;
  /** Nothing follows in this segment. */
  readonly seal: SealLine["seal"] | undefined;
  /** The write of a turn whose last part is not there yet. */
  readonly pending: string | undefined;
  /** The line feed that the last line lacks, which all of the store's have: the next block begins with it. */
  readonly tear: string;
}

/** What a piece of a segment holds. */
export interface Parsed {
  /** Oldest first. */
  readonly entries: readonly Entry[];
  /** Where the first line that was looked at begins; what the piece holds before it belongs to what is older. */
  readonly front: number;
  /** Where the older piece must begin at the latest, because it ends with parts of a turn that begin there. */
  readonly frontFrom: number | undefined;
  readonly last: Last;
}

/** What every line ends with. */
export const LINE_FEED = 10;
/** A segment of so many blocks takes no other one, not even a seal. */
const SERVICE_BLOCKS = 50_000;

/** Takes a piece of a segment apart. Unless that begins the segment, everything up to its first line feed is left aside. */
export function parse(piece: Piece): Parsed {
  const { bytes, start } = piece;
  const entries: Entry[] = [];
  let offset = start === 0 ? 0 : behindLine(bytes, 0);
  let front = start + offset;
  let frontFrom: number | undefined;
  let anchor = front;
  let seal: Last["seal"];
  let run: readonly PartLine[] = [];
  while (offset < bytes.length && seal === undefined) {
    anchor = start + offset;
    const line = lineAt(bytes, offset);
    offset = behindLine(bytes, offset);
    const end = start + offset;
    if (line !== undefined && "part" in line) {
      run = continued(run, line, anchor);
      if (run.length === 0 && front === anchor && entries.length === 0) {
        // Its turn began before this piece. In the middle of one it is what a writer left that came too late.
        front = end;
        frontFrom = line.from;
      } else if (run.length === line.parts) {
        anchor = line.from;
        entries.push({ start: anchor, end, turn: decodeTurn(joined(run)) });
        run = [];
      }
    } else {
      run = [];
      if (line !== undefined && "seal" in line) {
        seal = line.seal;
      } else {
        entries.push({ start: anchor, end, turn: line });
      }
    }
  }
  return { entries, front, frontFrom, last: lastOf(piece, anchor, seal, run) };
}

function lastOf({ bytes, start, end }: Piece, line: number, seal: Last["seal"], run: readonly PartLine[]): Last {
  const pending = run[0];
  return {
    anchor: pending?.from ?? line,
    settled: pending?.from ?? start + bytes.length,
    seal: seal ?? (end.blocks < SERVICE_BLOCKS ? undefined : "next"),
    pending: pending?.write,
    tear: bytes.length === 0 || bytes.at(-1) === LINE_FEED ? "" : "\n",
  };
}

/** The line that begins at `offset`. Undefined: it cannot be read, or has no line feed. */
function lineAt(bytes: Buffer, offset: number): ReturnType<typeof decodeLine> {
  const end = bytes.indexOf(LINE_FEED, offset);
  return end < 0 ? undefined : decodeLine(bytes.subarray(offset, end));
}

/** Where the line after the one at `offset` begins. */
function behindLine(bytes: Buffer, offset: number): number {
  const end = bytes.indexOf(LINE_FEED, offset);
  return end < 0 ? bytes.length : end + 1;
}

/** The run with a part that stands at `at`; empty where it neither goes on with the run nor begins another one. */
function continued(run: readonly PartLine[], part: PartLine, at: number): readonly PartLine[] {
  const before = part.part === 0 ? [] : run;
  const from = before[0]?.from ?? at;
  return part.part === before.length && part.from === from ? [...before, part] : [];
}

function joined(run: readonly PartLine[]): Buffer {
  return Buffer.from(run.map(({ text }) => text).join(""));
}
