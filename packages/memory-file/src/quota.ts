import { storeError } from "./errors.ts";
import { lstat, unless } from "./file-calls.ts";
import type { OpenDirectory } from "./open-directory.ts";
import type { Settings } from "./options.ts";

/** Looks at so many files at once. */
const AT_ONCE = 16;

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
    throw storeError(
      "too_large",
      `there are ${files.length} files already, and at most ${maxFiles} are allowed; delete one first`,
    );
  }
  if (size <= (previous ?? 0) || (files.length + 1) * maxFileBytes <= maxTotalBytes) {
    return;
  }
  const total = await bytesOf(
    directory,
    files.filter((file) => file !== name),
  );
  if (total + size > maxTotalBytes) {
    throw storeError(
      "too_large",
      `the other files have ${total} bytes, and with these ${size} there would be more than the ${maxTotalBytes} that are allowed; shorten or delete something first`,
    );
  }
}

async function bytesOf(directory: OpenDirectory, files: readonly string[]): Promise<number> {
  let total = 0;
  for (let index = 0; index < files.length; index += AT_ONCE) {
    const some = files.slice(index, index + AT_ONCE);
    const sizes = await Promise.all(
      some.map(async (file) => Number((await unless(["ENOENT"], lstat(directory.at(file))))?.size ?? 0)),
    );
    total += sizes.reduce((sum, one) => sum + one, 0);
  }
  return total;
}
