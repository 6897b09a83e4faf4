import type { AgentFrameworkError } from "@agentfw/core";
import { corruptError } from "./errors.ts";
import { LINE_FEED } from "./line-format.ts";
import type { Task } from "./observing.ts";
import { type Entry, parse } from "./parsing.ts";
import type { SegmentInfo } from "./segment.ts";
import type { Piece } from "./service.ts";

/** A place between two lines of a conversation. */
export interface Place {
  readonly segment: number;
  /** What is before this byte is older. */
  readonly end: number;
}

/** Entries that are next to each other, oldest first. */
export interface OlderEntries {
  readonly segment: number;
  readonly entries: readonly Entry[];
  readonly info: SegmentInfo;
}

/** A segment that should be there and is not. */
export class MissingSegment extends Error {
  readonly segment: number;

  constructor(segment: number) {
    super(`segment ${segment} is missing`);
    this.name = "MissingSegment";
    this.segment = segment;
  }
}

/** A place in a segment that is not between two lines, or behind its end. */
export class NoSuchPlace extends Error {
  readonly segment: number;

  constructor(segment: number) {
    super(`no two lines of segment ${segment} meet there`);
    this.name = "NoSuchPlace";
    this.segment = segment;
  }
}

/** A segment that does not hold whole lines: someone has changed it. */
export function cutSegment(operation: string): AgentFrameworkError {
  return corruptError(`${operation}: a segment is not as it was written`, "between two lines");
}

/** Reads a conversation backwards, from a place to its beginning, across its segments. */
export class OlderReader {
  readonly #task: Task;
  readonly #life: string;
  readonly #first: number;
  #segment: number;
  #end: number;
  #info: SegmentInfo | undefined;
  #frontFrom: number | undefined;

  /** `info` and `frontFrom` are of the segment that the place is in, where they are known. */
  constructor(
    task: Task,
    { life, first }: SegmentInfo,
    place: Place & { readonly info?: SegmentInfo; readonly frontFrom?: number | undefined },
  ) {
    this.#task = task;
    this.#life = life;
    this.#first = first;
    this.#segment = place.segment;
    this.#end = place.end;
    this.#info = place.info;
    this.#frontFrom = place.frontFrom;
  }

  /**
   * The entries right before, from a piece of about so many bytes. Undefined: there are none.
   *
   * @throws MissingSegment, NoSuchPlace
   */
  async next(bytes: number): Promise<OlderEntries | undefined> {
    for (let size = bytes; ; ) {
      if (this.#end === 0 && !(await this.#toPrevious())) {
        return undefined;
      }
      const end = this.#end;
      const start = Math.max(0, Math.min(end - size, (this.#frontFrom ?? end) - 1));
      const piece = await this.#read(start, end);
      const parsed = parse(piece.bytes, start, start === 0);
      if (parsed.front < end || start === 0) {
        this.#end = parsed.front < end ? parsed.front : 0;
        this.#frontFrom = parsed.frontFrom;
      }
      // A line may be longer than the piece.
      size *= 4;
      if (parsed.entries.length > 0) {
        return { segment: this.#segment, entries: parsed.entries, info: piece.info };
      }
    }
  }

  /** False: there is no previous segment. */
  async #toPrevious(): Promise<boolean> {
    if (this.#segment <= this.#first) {
      return false;
    }
    this.#info ??= (await this.#read(0, 1)).info;
    this.#end = this.#info.before;
    this.#segment -= 1;
    this.#info = undefined;
    this.#frontFrom = undefined;
    return this.#end > 0 || this.#toPrevious();
  }

  async #read(start: number, end: number): Promise<Piece> {
    const { call, service, conversation } = this.#task;
    const place = { directory: conversation.directory, segment: this.#segment };
    const piece = await service.read(call, place, start, end);
    // A range behind the end is told from no segment at all.
    const any = piece ?? (start === 0 ? undefined : await service.read(call, place, 0, 1));
    if (any === undefined || any.info.life !== this.#life) {
      throw new MissingSegment(this.#segment);
    }
    if (piece?.bytes.length !== end - start || (end > 1 && piece.bytes.at(-1) !== LINE_FEED)) {
      throw new NoSuchPlace(this.#segment);
    }
    this.#info = piece.info;
    return piece;
  }
}
