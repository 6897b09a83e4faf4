import fs, { type BigIntStats } from "node:fs";
import { systemCode } from "@agentfw/core/backend";

/**
 * The file system calls of reads and writes as promises, one system call each. The callback API is used because an append
 * is four calls, and the overhead of `fs/promises` is a good part of such a call. What is seldom asked for is taken from there.
 */

/** Windows has neither flag; there a link or a pipe is noticed by the check of the opened file. */
export const SAFE_FLAGS: number = (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);

/** Reads only. */
export const READ_ONLY: number = fs.constants.O_RDONLY;
/** Reads anywhere, writes at the end. */
export const READ_APPEND: number = fs.constants.O_RDWR | fs.constants.O_APPEND;
/** As {@link READ_APPEND}, and makes the file if it is missing. */
export const CREATE_APPEND: number = READ_APPEND | fs.constants.O_CREAT;
/** Makes a file that must not exist. */
export const CREATE_NEW: number = CREATE_APPEND | fs.constants.O_EXCL;

type Callback<T> = (error: NodeJS.ErrnoException | null, value: T) => void;

function call<T>(start: (done: Callback<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    start((error, value) => (error ? reject(error) : resolve(value)));
  });
}

function run(start: (done: (error: NodeJS.ErrnoException | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error ? reject(error) : resolve()));
  });
}

/** Opens without following a link in the last component and without waiting for a pipe. New files are 0600. */
export function open(path: string, flags: number): Promise<number> {
  return call((done) => fs.open(path, flags | SAFE_FLAGS, 0o600, done));
}

export function close(descriptor: number): Promise<void> {
  return run((done) => fs.close(descriptor, done));
}

/** The bytes from `start` up to `end`; fewer when the file ends before. */
export async function readRange(descriptor: number, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, end - start));
  let filled = 0;
  while (filled < buffer.length) {
    const offset = filled;
    const count = await call<number>((done) =>
      fs.read(descriptor, buffer, offset, Math.min(buffer.length - offset, MAX_CALL_BYTES), start + offset, done),
    );
    if (count === 0) {
      break;
    }
    filled += count;
  }
  return filled === buffer.length ? buffer : buffer.subarray(0, filled);
}

/** The kernel moves at most this much in one call. */
export const MAX_CALL_BYTES = 0x7ffff000;

/** One write at the end of the file; gives the count of bytes that the kernel took. Never continues a short write. */
export function appendOnce(descriptor: number, bytes: Buffer): Promise<number> {
  return call((done) => fs.write(descriptor, bytes, 0, bytes.length, null, done));
}

export function truncate(descriptor: number, size: number): Promise<void> {
  return run((done) => fs.ftruncate(descriptor, size, done));
}

/** Content and size reach the disk. */
export function syncData(descriptor: number): Promise<void> {
  return run((done) => fs.fdatasync(descriptor, done));
}

/** Names in the directory reach the disk. Windows cannot open a directory, and keeps names safe by itself. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") {
    return;
  }
  const descriptor = await open(path, READ_ONLY);
  try {
    await run((done) => fs.fsync(descriptor, done));
  } finally {
    await close(descriptor);
  }
}

/** What is there, or where a link leads; undefined where nothing is. */
export function stat(path: string): Promise<BigIntStats | undefined> {
  return unless(
    ["ENOENT"],
    call((done) => fs.stat(path, { bigint: true }, done)),
  );
}

/**
 * As {@link stat}, without a thread in between, which takes ten times as long. Only for a path whose file is open and in
 * whose directory another call has just succeeded: then it is answered from memory and cannot hang.
 */
export function statNow(path: string): BigIntStats | undefined {
  return fs.statSync(path, { bigint: true, throwIfNoEntry: false });
}

/** What is there, a link as a link; undefined where nothing is. */
export function lstat(path: string): Promise<BigIntStats | undefined> {
  return unless(
    ["ENOENT"],
    call((done) => fs.lstat(path, { bigint: true }, done)),
  );
}

export function fstat(descriptor: number): Promise<BigIntStats> {
  return call((done) => fs.fstat(descriptor, { bigint: true }, done));
}

export function link(existing: string, path: string): Promise<void> {
  return run((done) => fs.link(existing, path, done));
}

/** Removes a file, if it is there. */
export function unlink(path: string): Promise<void> {
  return unless(
    ["ENOENT"],
    run((done) => fs.unlink(path, done)),
  );
}

export function rename(from: string, to: string): Promise<void> {
  return run((done) => fs.rename(from, to, done));
}

/** What `call` gives, or undefined where it fails with one of `codes`. */
export async function unless<T>(codes: readonly string[], pending: Promise<T>): Promise<T | undefined> {
  try {
    return await pending;
  } catch (error) {
    if (codes.includes(systemCode(error) ?? "")) {
      return undefined;
    }
    throw error;
  }
}
