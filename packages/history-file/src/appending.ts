import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { type HistoryRecord, isAgentFrameworkError } from "@agentfw/core";
import type { Directories } from "./directories.ts";
import { conflictError, FileProblem, storeError } from "./errors.ts";
import type { WriteAccess } from "./exclusive-writes.ts";
import {
  appendOnce,
  CREATE_APPEND,
  close,
  fstat,
  MAX_CALL_BYTES,
  open,
  syncData,
  truncate,
  unlink,
} from "./file-calls.ts";
import { encodeHeader, encodeTurn, fingerprint } from "./line-format.ts";
import type { FoundFile, OpenFile, Place } from "./open-files.ts";
import { versionOf } from "./reading.ts";
import { isKnown, loadTail, remember, type Tail } from "./tail.ts";

/** What a write needs beside the file. */
export interface WriteContext extends WriteAccess {
  readonly place: Place;
  readonly directories: Directories;
  readonly fsync: boolean;
  readonly dedupeWindow: number;
  readonly ifVersion: string | undefined;
  /** Reports bytes behind the last committed line. */
  readonly onTorn: (end: number, bytes: number) => void;
}

/** What an append did. */
export interface Appended {
  readonly version: string;
  readonly appended: number;
}

/** Adds one turn to a file that is there. Under the lock. */
export async function appendTurn(
  found: FoundFile,
  records: readonly HistoryRecord[],
  context: WriteContext,
): Promise<Appended> {
  const { file, size } = found;
  const tail = await loadTail(found, context.dedupeWindow);
  const version = versionOf(file, tail.end, tail.fingerprint);
  const fresh = records.filter(({ id }) => !isKnown(tail, id));
  if (fresh.length === 0) {
    await syncOnce(file, tail, context);
    return { version, appended: 0 };
  }
  assertVersion(version, context.ifVersion);
  const line = encodeLine(fresh);
  if (tail.end < size) {
    context.beforeChange();
    await truncate(file.descriptor, tail.end);
    context.onTorn(tail.end, size - tail.end);
  }
  await writeAll(file.descriptor, tail.end, line, context);
  tail.end += line.length;
  tail.fingerprint = fingerprint(line);
  tail.isSynced = context.fsync;
  remember(
    tail,
    fresh.map(({ id }) => id),
    context.dedupeWindow,
  );
  return { version: versionOf(file, tail.end, tail.fingerprint), appended: fresh.length };
}

/** Makes the file of a conversation with its first turn, in one write. Under the lock, when there is none. */
export async function createConversation(records: readonly HistoryRecord[], context: WriteContext): Promise<Appended> {
  assertVersion("", context.ifVersion);
  const { place, directories } = context;
  const generation = newGeneration();
  const header = encodeHeader({ generation, key: place.key, replacedBytes: 0 });
  const line = encodeLine(records);
  context.beforeChange();
  const descriptor = await open(place.file, CREATE_APPEND);
  try {
    const { size } = await fstat(descriptor);
    if (size > 0n) {
      // A writer that died here left a file without a complete header.
      await truncate(descriptor, 0);
      context.onTorn(0, Number(size));
    }
    await writeAll(descriptor, 0, Buffer.concat([header, line]), context);
    await directories.sync(dirname(place.file));
  } catch (error) {
    if (!isAgentFrameworkError(error, "outcome_unknown")) {
      // Nothing of the turn is in it any more.
      await unlink(place.file).catch(() => undefined);
    }
    throw error;
  } finally {
    await close(descriptor);
  }
  return { version: `${generation}.${header.length + line.length}.${fingerprint(line)}`, appended: records.length };
}

/** A generation that no other life of a conversation has. */
export function newGeneration(): string {
  return randomBytes(12).toString("hex");
}

/** Refuses a write on another version than the caller has seen. */
export function assertVersion(version: string, ifVersion: string | undefined): void {
  if (ifVersion !== undefined && ifVersion !== version) {
    throw conflictError("another writer came first", version);
  }
}

function encodeLine(records: readonly HistoryRecord[]): Buffer {
  const line = encodeTurn(records);
  if (line.length > MAX_CALL_BYTES) {
    throw storeError("too_large", "records: together they are above the limit of one write");
  }
  return line;
}

/** Writes bytes at the end in one call, and syncs them. On failure the file ends at `end` again. */
async function writeAll(descriptor: number, end: number, bytes: Buffer, context: WriteContext): Promise<void> {
  context.beforeChange();
  let isWritten = false;
  try {
    const count = await appendOnce(descriptor, bytes);
    isWritten = count === bytes.length;
    if (!isWritten) {
      // The kernel takes a part only when there is no room for more. Going on would leave half a turn for readers.
      throw new FileProblem("ENOSPC", `${count} of ${bytes.length} bytes were written`);
    }
    if (context.fsync) {
      await syncData(descriptor);
    }
  } catch (error) {
    await takeBack(descriptor, end, isWritten, error);
    throw error;
  }
}

/**
 * After a failed sync the kernel may have dropped the bytes and answer the next sync with success, so a turn must not
 * stay that a retry would find and take for stored.
 */
async function takeBack(descriptor: number, end: number, isWritten: boolean, cause: unknown): Promise<void> {
  try {
    await truncate(descriptor, end);
  } catch {
    if (isWritten) {
      throw storeError("outcome_unknown", "the turn was written, but neither synced nor taken back", { cause });
    }
    // Half a line is no turn for readers, and the next append cuts it off.
  }
}

/** An append that finds its ids stored vouches for them, whoever wrote them. */
async function syncOnce(file: OpenFile, tail: Tail, context: WriteContext): Promise<void> {
  if (context.fsync && !tail.isSynced) {
    await syncData(file.descriptor);
    tail.isSynced = true;
  }
}
