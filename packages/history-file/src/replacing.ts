import { dirname } from "node:path";
import { configurationError, type HistoryRecord } from "@agentfw/core";
import { assertVersion, newGeneration, type WriteContext } from "./appending.ts";
import { BackwardLines, type StoredIds } from "./backward-lines.ts";
import { conflictError, corruptError } from "./errors.ts";
import { appendOnce, CREATE_NEW, close, open, readRange, rename, syncData, unlink } from "./file-calls.ts";
import { decodeRecords, encodeHeader, encodeTurn } from "./line-format.ts";
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

/** An id and where it is stored. */
interface Spot {
  readonly id: string;
  readonly line: StoredIds;
  /** Its place in the line. */
  readonly index: number;
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
export async function replaceRun(
  { file, size }: FoundFile,
  { fromId, throughId, records }: Replacement,
  context: WriteContext,
): Promise<void> {
  const tail = await BackwardLines.fromLast(file.descriptor, file.bodyStart, size, BLOCK_BYTES);
  const end = tail.position;
  assertVersion(versionOf(file, end, await tail.fingerprint()), context.ifVersion);
  const lines = await allLines(tail);
  const spots = lines.flatMap((line) => (line.ids ?? []).map((id, index) => ({ id, line, index })));
  const from = findSpot(spots, fromId, "range.fromId");
  const through = findSpot(spots, throughId, "range.throughId");
  const run = spots.slice(spots.indexOf(from), spots.indexOf(through) + 1);
  if (run.length === 0) {
    throw configurationError("range", "fromId must not come after throughId");
  }
  const { before, after } = await readAround(file, lines, from, through, context);
  const replaced = await readReplaced(file);
  const removed = run.map(({ id }) => id);
  const others = spots.toSpliced(spots.indexOf(from), run.length).map(({ id }) => id);
  assertUnused(new Set([...replaced, ...others]), new Set(removed), records);
  const lead = encodeTurn([], rememberedIds(replaced, removed, records, context.settings.dedupeWindow));
  const header = encodeHeader({ ...file.header, generation: newGeneration(), replacedBytes: lead.length });
  const turns = [before, records, after].filter(({ length }) => length > 0);
  const parts = [
    Buffer.concat([header, lead]),
    { start: file.bodyStart, end: from.line.start },
    ...turns.map((turn) => encodeTurn(turn)),
    { start: through.line.end, end },
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

function findSpot(spots: readonly Spot[], id: string, field: string): Spot {
  const spot = spots.findLast((one) => one.id === id);
  if (spot === undefined) {
    throw conflictError(`${field}: the record is no longer stored`);
  }
  return spot;
}

/** Reads the lines of the run, and gives what shares a line with it and stays. */
async function readAround(
  file: OpenFile,
  lines: readonly StoredIds[],
  from: Spot,
  through: Spot,
  context: WriteContext,
): Promise<{ before: readonly HistoryRecord[]; after: readonly HistoryRecord[] }> {
  let before: readonly HistoryRecord[] = [];
  let after: readonly HistoryRecord[] = [];
  for (const line of lines.slice(lines.indexOf(from.line), lines.indexOf(through.line) + 1)) {
    await context.lock.renew();
    const records = await readWhole(file, line, context.place.file);
    if (line === from.line) {
      before = records.slice(0, from.index);
    }
    if (line === through.line) {
      after = records.slice(through.index + 1);
    }
  }
  return { before, after };
}

async function readWhole(file: OpenFile, line: StoredIds, path: string): Promise<readonly HistoryRecord[]> {
  const records = decodeRecords(await readRange(file.descriptor, line.start, line.end - 1));
  const whole = records?.filter((record) => record !== undefined);
  if (whole === undefined || whole.length !== records?.length) {
    throw corruptError("a record in the run cannot be read", `byte ${line.start}`, path);
  }
  return whole;
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
  const ids = new Set([...replaced, ...removed.slice(-window)]);
  for (const { id } of records) {
    ids.delete(id);
  }
  return [...ids].slice(-window * REPLACED_WINDOWS);
}

/**
 * The new file is synced whatever `fsync` says: a name that reached the disk before its content would cost the whole
 * conversation, not its last turns.
 */
async function putInPlace(
  file: OpenFile,
  parts: readonly Part[],
  { lock, place, directories }: WriteContext,
): Promise<void> {
  const { temporaryFile } = lock;
  // Left by a replace of this writer that failed; nobody else uses the name.
  await unlink(temporaryFile);
  try {
    const descriptor = await open(temporaryFile, CREATE_NEW);
    try {
      for await (const bytes of bytesOf(file, parts)) {
        await lock.renew();
        await writeFully(descriptor, bytes);
      }
      await syncData(descriptor);
    } finally {
      await close(descriptor);
    }
    lock.beforeChange();
    await rename(temporaryFile, place.file);
  } catch (error) {
    await unlink(temporaryFile).catch(() => undefined);
    throw error;
  }
  await directories.sync(dirname(place.file));
}

async function* bytesOf(file: OpenFile, parts: readonly Part[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) {
      yield part;
      continue;
    }
    for (let start = part.start; start < part.end; start += COPY_BYTES) {
      yield readRange(file.descriptor, start, Math.min(part.end, start + COPY_BYTES));
    }
  }
}

async function writeFully(descriptor: number, bytes: Buffer): Promise<void> {
  for (let rest = bytes; rest.length > 0; ) {
    rest = rest.subarray(await appendOnce(descriptor, rest));
  }
}
