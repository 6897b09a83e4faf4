import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { type HistoryRecord, isAgentFrameworkError } from "@agentfw/core";
import { FileProblem } from "@agentfw/core/backend";
import type { Directories } from "./directories.ts";
import { conflictError, storeError } from "./errors.ts";
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
import type { HeldLock } from "./lock.ts";
import type { FoundFile, OpenFile, Place } from "./open-files.ts";
import type { Settings } from "./options.ts";
import { versionOf, versionText } from "./reading.ts";
import { isKnown, loadTail, remember, type Tail } from "./tail.ts";
import type { TornTails } from "./torn-tails.ts";

/** What a write needs beside the file. */
export interface WriteContext {
  readonly place: Place;
  readonly ifVersion: string | undefined;
  readonly lock: HeldLock;
  readonly settings: Settings;
  readonly directories: Directories;
  readonly tornTails: TornTails;
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
  const { dedupeWindow, fsync } = context.settings;
  const tail = await loadTail(found, dedupeWindow);
  const version = versionAt(file, tail);
  const fresh = records.filter(({ id }) => !isKnown(tail, id));
  if (fresh.length === 0) {
    // An append that finds its ids stored vouches for them, whoever wrote them.
    if (fsync && !tail.isSynced) {
      await syncData(file.descriptor);
      tail.isSynced = true;
    }
    return { version, appended: 0 };
  }
  assertVersion(version, context.ifVersion);
  const line = encodeLine(fresh);
  if (tail.end < size) {
    await cutTail(file.descriptor, tail.end, size, context);
  }
  await writeAll(file.descriptor, tail.end, line, context);
  tail.end += line.length;
  tail.fingerprint = fingerprint(line);
  tail.isSynced = fsync;
  remember(
    tail,
    fresh.map(({ id }) => id),
    dedupeWindow,
  );
  return { version: versionAt(file, tail), appended: fresh.length };
}

/** Makes the file of a conversation with its first turn, in one write. Under the lock, when there is none. */
export async function createConversation(records: readonly HistoryRecord[], context: WriteContext): Promise<Appended> {
  const { place, directories, lock } = context;
  assertVersion("", context.ifVersion);
  const generation = newGeneration();
  const bytes = Buffer.concat([encodeHeader({ generation, key: place.key, replacedBytes: 0 }), encodeLine(records)]);
  lock.beforeChange();
  const descriptor = await open(place.file, CREATE_APPEND);
  try {
    const size = Number((await fstat(descriptor)).size);
    if (size > 0) {
      // A writer that died here left a file without a complete header.
      await cutTail(descriptor, 0, size, context);
    }
    await writeAll(descriptor, 0, bytes, context);
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
  return { version: versionText(generation, bytes.length, fingerprint(bytes)), appended: records.length };
}

/** The version of a file as it is now. Under the lock. */
export async function currentVersion(found: FoundFile, dedupeWindow: number): Promise<string> {
  return versionAt(found.file, await loadTail(found, dedupeWindow));
}

function versionAt(file: OpenFile, { end, fingerprint }: Tail): string {
  return versionOf(file, end, fingerprint);
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

/** Removes what a writer that died left behind the last line. */
async function cutTail(descriptor: number, end: number, size: number, context: WriteContext): Promise<void> {
  context.lock.beforeChange();
  await truncate(descriptor, end);
  context.tornTails.cut(context.place, end, size - end);
}

/** Writes bytes at the end in one call, and syncs them. On failure the file ends at `end` again. */
async function writeAll(descriptor: number, end: number, bytes: Buffer, context: WriteContext): Promise<void> {
  context.lock.beforeChange();
  let isWritten = false;
  try {
    const count = await appendOnce(descriptor, bytes);
    isWritten = count === bytes.length;
    if (!isWritten) {
      // The kernel takes a part only when there is no room for more. Going on would leave half a turn for readers.
      throw new FileProblem("ENOSPC", `${count} of ${bytes.length} bytes were written`);
    }
    if (context.settings.fsync) {
      await syncData(descriptor);
    }
  } catch (cause) {
    // After a failed sync the kernel may have dropped the bytes and answer the next sync with success, so a turn must not
    // stay that a retry would find and take for stored. Half a line is no turn for readers, and the next append cuts it off.
    await truncate(descriptor, end).catch(() => {
      if (isWritten) {
        throw storeError("outcome_unknown", "the turn was written, but neither synced nor taken back", { cause });
      }
    });
    throw cause;
  }
}
