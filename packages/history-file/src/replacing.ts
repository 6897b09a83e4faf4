import { dirname } from "node:path";
import { configurationError, type HistoryRecord } from "@agentfw/core";
import { assertVersion, newGeneration, type WriteContext } from "./appending.ts";
import { BackwardLines, type StoredIds } from "./backward-lines.ts";
import { conflictError, corruptError } from "./errors.ts";
import { appendOnce, CREATE_NEW, close, open, readRange, rename, syncData, unless, unlink } from "./file-calls.ts";
import { decodeRecords, decodeTurn, encodeHeader, encodeTurn } from "./line-format.ts";
import type { FoundFile, OpenFile } from "./open-files.ts";
import { versionOf } from "./reading.ts";
import { readReplaced } from "./tail.ts";

const BLOCK_BYTES = 64 * 1024;
const COPY_BYTES = 1024 * 1024;
/** Replaced ids are remembered for this many times the window. */
const REPLACED_WINDOWS = 4;

/** What to swap for what. */
export interface Replacement {
  readonly fromId: string;
  readonly throughId: string;
  readonly records: readonly HistoryRecord[];
}

/** A record by its line and its place in it. */
interface Spot {
  readonly line: number;
  readonly index: number;
}

interface Run {
  readonly from: Spot;
  readonly through: Spot;
}

/** Bytes for the new file: given, or a part of the old one. */
type Part = Buffer | { readonly start: number; readonly end: number };

/**
 * Writes the file anew, with other records in the place of a run, and puts it over the old one in one step. Lines
 * outside of the run are copied as they are, damaged ones too. Under the lock.
 *
 * @throws `conflict` when an end of the run is not stored, `configuration` for a run that ends before it begins or for
 * an id that is stored outside of it, `corrupt` when a damaged record is in the run.
 */
export async function replaceRun(found: FoundFile, wanted: Replacement, context: WriteContext): Promise<void> {
  const { file, size } = found;
  const tail = await BackwardLines.fromLast(file.descriptor, file.bodyStart, size, BLOCK_BYTES);
  const end = tail.position;
  assertVersion(versionOf(file, end, await tail.fingerprint()), context.ifVersion);
  const lines = await allLines(tail);
  const run = findRun(lines, wanted);
  const kept = await readAround(file, lines, run, context);
  const replaced = await readReplaced(file);
  const { removed, others } = idsAround(lines, run);
  assertUnused(new Set([...replaced, ...others]), new Set(removed), wanted.records);
  const lead = encodeTurn([], rememberedIds(replaced, removed, wanted.records, context.dedupeWindow));
  const header = encodeHeader({ ...file.header, generation: newGeneration(), replacedBytes: lead.length });
  const parts: readonly Part[] = [
    Buffer.concat([header, lead]),
    { start: file.bodyStart, end: lines[run.from.line]?.start ?? file.bodyStart },
    ...[kept.before, wanted.records, kept.after]
      .filter((records) => records.length > 0)
      .map((records) => encodeTurn(records)),
    { start: lines[run.through.line]?.end ?? end, end },
  ];
  await putInPlace(file, parts, context);
}

async function allLines(tail: BackwardLines): Promise<StoredIds[]> {
  const newestFirst: StoredIds[] = [];
  for (let block = await tail.previousIds(); block.length > 0; block = await tail.previousIds()) {
    newestFirst.push(...block);
  }
  return newestFirst.reverse();
}

function findRun(lines: readonly StoredIds[], { fromId, throughId }: Replacement): Run {
  const from = findId(lines, fromId, "range.fromId");
  const through = findId(lines, throughId, "range.throughId");
  if (isBefore(through, from)) {
    throw configurationError("range", "fromId must not come after throughId");
  }
  return { from, through };
}

function findId(lines: readonly StoredIds[], id: string, field: string): Spot {
  for (let line = lines.length - 1; line >= 0; line -= 1) {
    const index = lines[line]?.ids?.lastIndexOf(id) ?? -1;
    if (index >= 0) {
      return { line, index };
    }
  }
  throw conflictError(`${field}: the record is no longer stored`);
}

/** Reads the lines of the run, and gives what shares a line with it and stays. */
async function readAround(
  file: OpenFile,
  lines: readonly StoredIds[],
  run: Run,
  context: WriteContext,
): Promise<{ before: readonly HistoryRecord[]; after: readonly HistoryRecord[] }> {
  let before: readonly HistoryRecord[] = [];
  let after: readonly HistoryRecord[] = [];
  for (const [offset, line] of lines.slice(run.from.line, run.through.line + 1).entries()) {
    await context.renew();
    const records = await readWhole(file, line, context.place.file);
    if (offset === 0) {
      before = records.slice(0, run.from.index);
    }
    if (run.from.line + offset === run.through.line) {
      after = records.slice(run.through.index + 1);
    }
  }
  return { before, after };
}

async function readWhole(file: OpenFile, line: StoredIds, path: string): Promise<readonly HistoryRecord[]> {
  const turn = decodeTurn(await readRange(file.descriptor, line.start, line.end - 1));
  const records = turn && decodeRecords(turn);
  const whole = records?.filter((record) => record !== undefined);
  if (whole === undefined || whole.length !== records?.length) {
    throw corruptError("a record in the run cannot be read", `byte ${line.start}`, path);
  }
  return whole;
}

/** The ids of the run, and all others, in their order. */
function idsAround(lines: readonly StoredIds[], { from, through }: Run): { removed: string[]; others: string[] } {
  const removed: string[] = [];
  const others: string[] = [];
  for (const [line, { ids = [] }] of lines.entries()) {
    for (const [index, id] of ids.entries()) {
      const spot = { line, index };
      (isBefore(spot, from) || isBefore(through, spot) ? others : removed).push(id);
    }
  }
  return { removed, others };
}

function isBefore(one: Spot, other: Spot): boolean {
  return one.line < other.line || (one.line === other.line && one.index < other.index);
}

function assertUnused(
  outside: ReadonlySet<string>,
  inside: ReadonlySet<string>,
  records: readonly HistoryRecord[],
): void {
  for (const [index, { id }] of records.entries()) {
    if (outside.has(id) && !inside.has(id)) {
      throw configurationError(`records[${index}].id`, "is stored outside of the range");
    }
  }
}

/** The ids that are stored no more, the newest last: what a late retry must not bring back. */
function rememberedIds(
  replaced: ReadonlySet<string>,
  removed: readonly string[],
  records: readonly HistoryRecord[],
  window: number,
): string[] {
  const stored = new Set(records.map(({ id }) => id));
  const ids = new Set([...replaced, ...removed.slice(-window)]);
  return [...ids].filter((id) => !stored.has(id)).slice(-window * REPLACED_WINDOWS);
}

/**
 * The new file is synced whatever `fsync` says: a name that reached the disk before its content would cost the whole
 * conversation, not its last turns.
 */
async function putInPlace(file: OpenFile, parts: readonly Part[], context: WriteContext): Promise<void> {
  const { temporaryFile, place, directories } = context;
  // Left by a replace of this writer that failed; nobody else uses the name.
  await unless(["ENOENT"], unlink(temporaryFile));
  try {
    const descriptor = await open(temporaryFile, CREATE_NEW);
    try {
      for (const part of parts) {
        await writePart(descriptor, file, part, context);
      }
      await syncData(descriptor);
    } finally {
      await close(descriptor);
    }
    context.beforeChange();
    await rename(temporaryFile, place.file);
  } catch (error) {
    await unlink(temporaryFile).catch(() => undefined);
    throw error;
  }
  await directories.sync(dirname(place.file));
}

async function writePart(descriptor: number, file: OpenFile, part: Part, context: WriteContext): Promise<void> {
  if (Buffer.isBuffer(part)) {
    await context.renew();
    await writeFully(descriptor, part);
    return;
  }
  for (let start = part.start; start < part.end; start += COPY_BYTES) {
    await context.renew();
    await writeFully(descriptor, await readRange(file.descriptor, start, Math.min(part.end, start + COPY_BYTES)));
  }
}

async function writeFully(descriptor: number, bytes: Buffer): Promise<void> {
  for (let rest = bytes; rest.length > 0; ) {
    rest = rest.subarray(await appendOnce(descriptor, rest));
  }
}
