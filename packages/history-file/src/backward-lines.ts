import { corruptError } from "./errors.ts";
import { readRange } from "./file-calls.ts";
import {
  decodeEnd,
  decodeHead,
  decodeIds,
  FINGERPRINT_BYTES,
  fingerprint,
  HEAD_OFFSET,
  type LineEnd,
  MIN_TURN_BYTES,
} from "./line-format.ts";

const LINE_FEED = 10;
const PROBE_BYTES = 4096;
const MAX_BLOCK_BYTES = 1024 * 1024;

/** One line of a file. */
export interface StoredLine {
  /** Where the line starts. */
  readonly start: number;
  /** Where the next one starts, right behind the line feed. */
  readonly end: number;
  /** Without the line feed. */
  readonly bytes: Buffer;
}

/** The ids of one line, and where it is. `ids` is undefined when they cannot be read. */
export interface StoredIds {
  readonly start: number;
  readonly end: number;
  readonly ids: readonly string[] | undefined;
}

/**
 * Walks the lines of a file from its end to its start, reading blocks that double in size: the newest lines cost the
 * same however long the file is. All reads go to one descriptor, so a file that is replaced meanwhile stays whole.
 */
export class BackwardLines {
  readonly #descriptor: number;
  readonly #floor: number;
  #blockBytes: number;
  /** The bytes from `#start` up to `#position`. */
  #window: Buffer = Buffer.alloc(0);
  #start: number;
  #position: number;

  private constructor(descriptor: number, floor: number, end: number, blockBytes: number) {
    this.#descriptor = descriptor;
    this.#floor = floor;
    this.#start = end;
    this.#position = end;
    this.#blockBytes = blockBytes;
  }

  /**
   * Starts behind the last line feed between `floor` and `end`; what follows it was never committed. The fingerprint is
   * that of the position.
   */
  static async fromLast(descriptor: number, floor: number, end: number, blockBytes: number): Promise<BackwardLines> {
    const lines = new BackwardLines(descriptor, floor, end, blockBytes);
    let found = -1;
    while (found < 0 && lines.#start > floor) {
      lines.#dropWindow(lines.#start);
      await lines.#extend(lines.#start - lines.#blockBytes);
      found = lines.#window.lastIndexOf(LINE_FEED);
    }
    lines.#keep(lines.#start + found + 1);
    return lines;
  }

  /** Behind the line that comes next; the floor when there is none. */
  get position(): number {
    return this.#position;
  }

  /** True when no line is left. */
  get isAtFloor(): boolean {
    return this.#position === this.#floor;
  }

  /** Tells this end apart from another that has the same position. */
  async fingerprint(): Promise<string> {
    const bytes = Math.min(FINGERPRINT_BYTES, this.#position - this.#floor);
    if (this.#window.length < bytes) {
      await this.#extend(this.#position - Math.max(bytes, this.#blockBytes));
    }
    return fingerprint(this.#window);
  }

  /** The line before the current position, or undefined at the floor. */
  async previous(): Promise<StoredLine | undefined> {
    let line = this.#takeLine();
    while (line === undefined && !this.isAtFloor) {
      await this.#extend(this.#startOfLongLine());
      line = this.#takeLine();
    }
    return line;
  }

  /**
   * The ids of the lines before the current position, as many as one block holds, the newest first; none at the floor.
   * What a long line holds beside its ids is not read. The first append of a process goes through hundreds of lines,
   * so they come in bulk and are not verified: the worst that damage does here is that an id is not known.
   */
  async previousIds(): Promise<readonly StoredIds[]> {
    if (!this.isAtFloor && this.#lineStart() === undefined) {
      const skipped = await this.#skipLongLine();
      if (skipped !== undefined) {
        return [skipped];
      }
    }
    const found: StoredIds[] = [];
    for (let line = await this.previous(); line !== undefined; line = this.#takeLine()) {
      found.push({ start: line.start, end: line.end, ids: decodeIds(line.bytes) });
    }
    return found;
  }

  /** The line before the current position if the window holds all of it. */
  #takeLine(): StoredLine | undefined {
    const end = this.#position;
    const start = this.isAtFloor ? undefined : this.#lineStart();
    if (start === undefined) {
      return undefined;
    }
    const bytes = this.#window.subarray(start - this.#start, end - 1 - this.#start);
    this.#keep(start);
    return { start, end, bytes };
  }

  /** Where the line starts that ends at the position, if the window goes back that far. */
  #lineStart(): number | undefined {
    // The last byte is the line feed of the line itself.
    const index = this.#window.length > 1 ? this.#window.lastIndexOf(LINE_FEED, this.#window.length - 2) : -1;
    if (index >= 0) {
      return this.#start + index + 1;
    }
    return this.#start === this.#floor ? this.#floor : undefined;
  }

  /** How far back to read for a line that is longer than the window: right to its start if its end tells it. */
  #startOfLongLine(): number {
    const start = this.#longLine()?.start ?? this.#start;
    return start < this.#start ? start - 1 : this.#start - this.#blockBytes;
  }

  async #skipLongLine(): Promise<StoredIds | undefined> {
    if (this.#window.length <= MIN_TURN_BYTES) {
      await this.#extend(this.#start - this.#blockBytes);
    }
    const line = this.#longLine();
    // A line that the next block would reach anyway is cheaper to read than to skip.
    if (line === undefined || this.#start - line.start <= this.#blockBytes) {
      return undefined;
    }
    const { start, lineEnd } = line;
    const read = await readRange(this.#descriptor, start - 1, start + HEAD_OFFSET + lineEnd.headBytes);
    const head = read[0] === LINE_FEED ? decodeHead(read.subarray(1), lineEnd) : undefined;
    if (head === undefined) {
      return undefined;
    }
    const end = this.#position;
    this.#dropWindow(start);
    this.#blockBytes = PROBE_BYTES;
    return { start, end, ids: head.ids };
  }

  /** What the end of the line before the position tells of it, if that is possible. */
  #longLine(): { readonly start: number; readonly lineEnd: LineEnd } | undefined {
    const lineEnd = decodeEnd(this.#window.subarray(0, -1));
    const start = this.#position - 1 - (lineEnd?.lineBytes ?? 0);
    return lineEnd === undefined || start < this.#floor ? undefined : { start, lineEnd };
  }

  async #extend(wanted: number): Promise<void> {
    const start = Math.max(this.#floor, wanted);
    const bytes = await readRange(this.#descriptor, start, this.#start);
    if (bytes.length < this.#start - start) {
      throw corruptError("the file became shorter while it was read", `byte ${start + bytes.length}`);
    }
    this.#window = this.#window.length === 0 ? bytes : Buffer.concat([bytes, this.#window]);
    this.#start = start;
    this.#blockBytes = Math.min(this.#blockBytes * 2, MAX_BLOCK_BYTES);
  }

  #keep(position: number): void {
    this.#window = this.#window.subarray(0, position - this.#start);
    this.#position = position;
  }

  #dropWindow(position: number): void {
    this.#window = Buffer.alloc(0);
    this.#start = position;
    this.#position = position;
  }
}
