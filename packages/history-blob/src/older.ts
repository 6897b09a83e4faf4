import { AgentFrameworkError } from "@agentfw/core";
import { PROVIDER } from "./errors.ts";
import { type Entry, LINE_FEED, type Piece, parse } from "./parsing.ts";
import type { SegmentInfo } from "./segment.ts";
import type { Task } from "./task.ts";

/** A place between two lines of a conversation. What else is known of it saves requests. */
export interface Place {
  readonly segment: number;
  /** What is before this byte is older. */
  readonly end: number;
  readonly info?: SegmentInfo | undefined;
  /** What the piece behind the place says of where to begin. */
  readonly frontFrom?: number | undefined;
}

/** Entries that are next to each other, oldest first. */
export interface OlderEntries {
  readonly entries: readonly Entry[];
  readonly info: SegmentInfo;
}

/** A place that the conversation should have and has not. What is before it cannot be read either. */
export class LostPlace extends AgentFrameworkError {
  readonly segment: number;
  /** False where the segment is there, and is not as it was written: it ends before, or there are no two lines. */
  readonly isMissing: boolean;

  constructor(segment: number, isMissing: boolean) {
    const position = `segment ${segment} and what was before it`;
    const what = `a part of the conversation is ${isMissing ? "missing" : "not as it was written"}`;
    super("corrupt", `${what} (${position})`, { provider: PROVIDER, position });
    this.segment = segment;
    this.isMissing = isMissing;
  }
}

/**
 * Reads a conversation backwards, from a place to its beginning, across its segments. `bytesOf` tells how much to read at
 * once, about.
 *
 * @throws LostPlace
 */
export async function* readOlder(
  task: Task,
  { life, first }: SegmentInfo,
  place: Place,
  bytesOf: () => number,
): AsyncGenerator<OlderEntries> {
  let { segment, end, info, frontFrom } = place;
  for (let size = bytesOf(); ; ) {
    while (end === 0) {
      if (segment <= first) {
        return;
      }
      info ??= (await readPart(task, life, segment, 0, 1)).info;
      end = info.before;
      segment -= 1;
      info = undefined;
      frontFrom = undefined;
    }
    const start = Math.max(0, Math.min(end - size, (frontFrom ?? end) - 1));
    const piece = await readPart(task, life, segment, start, end);
    const parsed = parse(piece);
    info = piece.info;
    if (parsed.front < end || start === 0) {
      end = parsed.front < end ? parsed.front : 0;
      frontFrom = parsed.frontFrom;
    }
    // A line may be longer than the piece.
    size *= 4;
    if (parsed.entries.length > 0) {
      yield { entries: parsed.entries, info };
      size = bytesOf();
    }
  }
}

async function readPart(task: Task, life: string, segment: number, start: number, end: number): Promise<Piece> {
  const piece = await task.read(segment, start, end);
  // A range behind the end is told from no segment at all.
  const any = piece ?? (start === 0 ? undefined : await task.read(segment, 0, 1));
  if (any?.info.life !== life) {
    throw new LostPlace(segment, true);
  }
  if (piece?.bytes.length !== end - start || (end > 1 && piece.bytes.at(-1) !== LINE_FEED)) {
    throw new LostPlace(segment, false);
  }
  return piece;
}
