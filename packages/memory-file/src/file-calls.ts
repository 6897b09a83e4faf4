import fs, { type BigIntStats } from "node:fs";
import { systemCode } from "@agentfw/core/backend";

/** The file system calls of this package as promises, one system call each. */

/** Windows has neither flag; there a link or a pipe is noticed by looking at what was opened. */
const SAFE_FLAGS: number = (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);

/** Reads only. */
export const READ_ONLY: number = fs.constants.O_RDONLY;
/** Opens a directory and nothing else. */
export const DIRECTORY: number = fs.constants.O_RDONLY | (fs.constants.O_DIRECTORY ?? 0);
/** Makes a file that must not exist. */
export const CREATE_NEW: number = fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_EXCL;

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

/** Opens the root of a store, which may be a link: whoever configures it chooses where it leads. */
export function openRoot(path: string): Promise<number> {
  return call((done) => fs.open(path, DIRECTORY, done));
}

export function close(descriptor: number): Promise<void> {
  return run((done) => fs.close(descriptor, done));
}

/** Closes what was only read from: there is nothing to wait for, and a thread would take ten times as long. */
export function closeRead(descriptor: number): void {
  fs.closeSync(descriptor);
}

/** The whole file, and not more than `size` bytes of it. */
export async function readAll(descriptor: number, size: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const offset = filled;
    const count = await call<number>((done) => fs.read(descriptor, buffer, offset, size - offset, offset, done));
    if (count === 0) {
      break;
    }
    filled += count;
  }
  return buffer.subarray(0, filled);
}

/** Writes all bytes from the start of the file, in as many calls as the system wants. */
export async function writeAll(descriptor: number, bytes: Buffer): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const offset = written;
    written += await call<number>((done) =>
      fs.write(descriptor, bytes, offset, bytes.length - offset, offset, (error, count) => done(error, count)),
    );
  }
}

/** Content and size reach the disk. */
export function syncData(descriptor: number): Promise<void> {
  return run((done) => fs.fdatasync(descriptor, done));
}

/** Everything of an opened file or directory reaches the disk. */
export function sync(descriptor: number): Promise<void> {
  return run((done) => fs.fsync(descriptor, done));
}

export function stat(path: string): Promise<BigIntStats> {
  return call((done) => fs.stat(path, { bigint: true }, done));
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

/** What an opened file is, at once: its state is in memory for as long as it is open. */
export function fstatNow(descriptor: number): BigIntStats {
  return fs.fstatSync(descriptor, { bigint: true });
}

/** Sets both times of an opened file, in seconds. */
export function setTimes(descriptor: number, seconds: number): Promise<void> {
  return run((done) => fs.futimes(descriptor, seconds, seconds, done));
}

/** Makes one directory, 0700. */
export function makeDirectory(path: string): Promise<void> {
  return run((done) => fs.mkdir(path, { mode: 0o700 }, done));
}

/** Removes a file. False when it is not there. */
export async function unlink(path: string): Promise<boolean> {
  const isRemoved = await unless(
    ["ENOENT"],
    run((done) => fs.unlink(path, done)).then(() => true),
  );
  return isRemoved === true;
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
