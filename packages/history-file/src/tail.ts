import { BackwardLines } from "./backward-lines.ts";
import { readRange } from "./file-calls.ts";
import { decodeLineHead } from "./line-format.ts";
import type { FoundFile, OpenFile } from "./open-files.ts";

const BLOCK_BYTES = 64 * 1024;

/** What a writer knows of the end of a file. */
export interface Tail {
  /** Behind the last committed line. */
  end: number;
  /** Tells this end from another at the same place. */
  fingerprint: string;
  /** The newest ids, the oldest of them first. */
  readonly ids: Set<string>;
  /** Ids that `replace` removed. */
  readonly replaced: ReadonlySet<string>;
  /** True when everything up to `end` is known to be on the disk. */
  isSynced: boolean;
}

/**
 * Brings the tail of a file up to date and keeps it with the file. Reads only what was added since the last look, or,
 * the first time, as many lines from the end as hold `window` ids. Call it under the lock: without it, a line may be
 * seen that its writer takes back after a failed sync.
 */
export async function loadTail({ file, size }: FoundFile, window: number): Promise<Tail> {
  // A file that is shorter than it was lost what its writer took back.
  const known = file.tail !== undefined && file.tail.end <= size ? file.tail : undefined;
  if (known?.end === size) {
    return known;
  }
  const lines = await BackwardLines.fromLast(file.descriptor, known?.end ?? file.bodyStart, size, BLOCK_BYTES);
  const end = lines.position;
  if (known?.end === end) {
    return known;
  }
  const fingerprint = await lines.fingerprint();
  const added = await newestIds(lines, window);
  const ids = known?.ids ?? new Set();
  const replaced = known?.replaced ?? (await readReplaced(file));
  const tail: Tail = { end, fingerprint, ids, replaced, isSynced: false };
  remember(tail, added, window);
  file.tail = tail;
  return tail;
}

/** Adds ids as the newest, and lets go of the oldest above `window`. */
export function remember(tail: Tail, ids: readonly string[], window: number): void {
  for (const id of ids) {
    tail.ids.delete(id);
    tail.ids.add(id);
  }
  for (const oldest of tail.ids) {
    if (tail.ids.size <= window) {
      break;
    }
    tail.ids.delete(oldest);
  }
}

/** True when the id is stored or was replaced, as far back as is remembered. */
export function isKnown({ ids, replaced }: Tail, id: string): boolean {
  return ids.has(id) || replaced.has(id);
}

/** The ids of the line behind the header. Damaged, it only costs the memory of replaced ids. */
export async function readReplaced({ descriptor, headerEnd, bodyStart }: OpenFile): Promise<ReadonlySet<string>> {
  return new Set(decodeLineHead(await readRange(descriptor, headerEnd, bodyStart - 1))?.replaced);
}

async function newestIds(tail: BackwardLines, window: number): Promise<string[]> {
  const newestFirst: (readonly string[])[] = [];
  let count = 0;
  while (count < window) {
    const lines = await tail.previousIds();
    if (lines.length === 0) {
      break;
    }
    for (const { ids = [] } of lines) {
      newestFirst.push(ids);
      count += ids.length;
    }
  }
  return newestFirst.reverse().flat();
}
