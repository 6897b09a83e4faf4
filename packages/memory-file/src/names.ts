import { configurationError } from "@agentfw/core";
import { assertFilePath, foldFileName } from "@agentfw/core/backend";

/**
 * Names that are kept as they are. Lower case only, because some file systems take `A` and `a` for one name; plain
 * ASCII, because some change the form of accented letters; no first dot, no separator.
 */
const PLAIN = /^[a-z0-9][a-z0-9._@+-]{0,99}$/;

/** Names of devices on Windows, with or without an extension. */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/;

/** Where owners' files are, at the root. */
export const OWNERS_DIRECTORY = "_owners";

/** Locks and unfinished files, at the root. */
export const STORE_DIRECTORY = "_store";

/**
 * One path segment for any text: another one for each other text, whatever characters it holds, on every file system.
 * Short lower-case names stay as they are, every other becomes `_` and the SHA-256 of its JSON text. Use it in a `scope`
 * that holds what a user or a service chose.
 *
 * @throws `configuration` for anything but a string. So a run of a session that nobody owns is refused, in place of
 * sharing the memories of all such sessions.
 */
export function scopeSegment(name: string | null): string {
  if (typeof name !== "string") {
    throw configurationError("scope", "needs a name; there is none, for example because nobody owns the session");
  }
  if (PLAIN.test(name) && !name.endsWith(".") && !DEVICE.test(name)) {
    return name;
  }
  // Asked for only here, because it would be a good part of what an import of the package takes.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return `_${createHash("sha256").update(JSON.stringify(name)).digest("hex")}`;
}

/** The directory of an owner's files, relative to the root, as segments. Files without an owner are at the root itself. */
export function ownerSegments(owner: string | null): readonly string[] {
  return owner === null ? [] : [OWNERS_DIRECTORY, scopeSegment(owner)];
}

/** The segments of a path that the port allows. @throws `configuration` naming the rule. */
export function segmentsOf(path: string, field: string): readonly string[] {
  assertFilePath(path, field);
  const segments = path.split("/");
  if (isReserved(segments[0] ?? "")) {
    throw configurationError(field, `must not begin with ${OWNERS_DIRECTORY} or ${STORE_DIRECTORY}`);
  }
  return segments;
}

/** True for a name at the root that belongs to the store, also in a spelling that some file systems take for it. */
export function isReserved(name: string): boolean {
  const folded = foldFileName(name);
  return folded === OWNERS_DIRECTORY || folded === STORE_DIRECTORY;
}

/** True for a name that a path may hold. Others were put there by someone else, and no call can name them. */
export function isFileName(name: string): boolean {
  try {
    assertFilePath(name, "name");
    return true;
  } catch {
    return false;
  }
}
