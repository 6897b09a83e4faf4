import { storeError } from "./errors.ts";
import { type OpenDirectory, statusesIn } from "./open-directory.ts";
import type { Settings } from "./options.ts";

/** A file that is about to be written. */
interface NewFile {
  readonly name: string;
  readonly size: number;
  /** The size of the file that it replaces. */
  readonly previous: number | undefined;
}

/**
 * Refuses a file for which its directory has no room. Replacing a file by one that is not larger is always allowed, so
 * that a directory above its limits can be worked on.
 *
 * @throws `too_large` saying which limit it is and what to do.
 */
export async function assertRoom(
  directory: OpenDirectory,
  files: readonly string[],
  { name, size, previous }: NewFile,
  { maxFiles, maxTotalBytes, maxFileBytes }: Settings,
): Promise<void> {
  if (previous === undefined && files.length >= maxFiles) {
    throw storeError("too_large", `files: at most ${maxFiles} are allowed; delete one first`);
  }
  if (size <= (previous ?? 0) || (files.length + 1) * maxFileBytes <= maxTotalBytes) {
    return;
  }
  const others = files.filter((file) => file !== name);
  const statuses = await statusesIn(directory, others);
  const total = statuses.reduce((sum, status) => sum + Number(status?.size ?? 0), 0);
  if (total + size > maxTotalBytes) {
    throw storeError(
      "too_large",
      `files: ${size} bytes beside the others' ${total} are above the limit of ${maxTotalBytes}; shorten or delete something first`,
    );
  }
}
