import { configurationError } from "@agentfw/core";
import { assertFilePath, foldFileName } from "@agentfw/core/backend";
import { hasInvisible } from "./memory-text.ts";

/**
 * Refuses what is no name of a memory file: a path, something hidden, or a name that belongs to indexes and descriptions
 * in other implementations, which may share the directory.
 *
 * @throws `configuration` with a rule that a model can act on.
 */
export function assertMemoryName(name: unknown): asserts name is string {
  if (typeof name !== "string" || name === "") {
    throw configurationError("file_name", "must be a non-empty text");
  }
  if (/[/\\]/.test(name)) {
    throw configurationError("file_name", "must be a plain name; there are no folders");
  }
  assertFilePath(name, "file_name");
  if (hasInvisible(name)) {
    throw configurationError("file_name", "must not hold line breaks or invisible characters");
  }
  if (name.startsWith(".")) {
    // A person who runs git or a shell in the directory must not meet settings that a model wrote.
    throw configurationError("file_name", "must not begin with a dot");
  }
  if (!isMemoryName(name)) {
    throw configurationError("file_name", "memories.md and names that end in _description.md are reserved");
  }
}

/** False for what is in a folder or hidden, and for names under which other implementations keep their index or a description. */
export function isMemoryName(name: string): boolean {
  const folded = foldFileName(name);
  const isReserved = folded.startsWith(".") || folded === "memories.md" || folded.endsWith("_description.md");
  // Not in the folded form: a wide slash is a character like any other.
  return !name.includes("/") && !isReserved;
}

/** The order in which files are listed: whatever their case, and always the same. */
export function compareNames(left: string, right: string): number {
  const [one, other] = [foldFileName(left), foldFileName(right)];
  return one === other ? Number(left > right) - Number(left < right) : one < other ? -1 : 1;
}
