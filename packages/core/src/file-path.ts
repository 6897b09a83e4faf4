import { assertTimeout } from "./deadline.ts";
import { configurationError } from "./errors.ts";
import { compileLinearPattern, type LineSearch } from "./linear-pattern.ts";
import type { FileSearchOptions } from "./ports/file-store.ts";
import { assertCount } from "./store-input.ts";

/** Device names that some systems reserve, with or without an extension; superscript digits count as digits there. */
const DEVICE_NAME = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is refused.
const FORBIDDEN_CHARACTER = /[\u0000-\u001f\u007f\\:*?"<>|]/;

const MAX_PATTERN_LENGTH = 256;

/**
 * Refuses a path that is not relative, normalized and portable: it must consist of non-empty segments between `/`,
 * none of them `.` or `..`, a reserved device name, longer than 255 bytes, or ending in a dot or a blank, without
 * control characters, `\ : * ? " < > |` and lone surrogates.
 *
 * @throws `configuration` naming the rule.
 */
export function assertFilePath(path: string, field: string): void {
  if (typeof path !== "string" || path === "") {
    throw configurationError(field, "must be a non-empty relative path");
  }
  if (path.startsWith("/") || path.includes("\\")) {
    throw configurationError(field, "must be relative, with / between its segments");
  }
  if (FORBIDDEN_CHARACTER.test(path) || !path.isWellFormed()) {
    throw configurationError(field, 'must not hold control characters, lone surrogates or any of : * ? " < > |');
  }
  for (const segment of path.split("/")) {
    if (segment === "" || segment === "." || segment === "..") {
      throw configurationError(field, "must not hold empty segments, . or ..");
    }
    if (/[. ]$/.test(segment) || segment.startsWith(" ")) {
      throw configurationError(field, "segments must not begin with a blank or end in a dot or a blank");
    }
    if (DEVICE_NAME.test(segment)) {
      throw configurationError(field, "must not use a reserved device name");
    }
    if (new TextEncoder().encode(segment).length > 255) {
      throw configurationError(field, "segments must not be longer than 255 bytes");
    }
  }
}

/** The form under which names clash on the strictest file systems: one Unicode form, one case. */
export function foldFileName(path: string): string {
  return path.normalize("NFKC").toLowerCase().normalize("NFKC");
}

/**
 * Compiles a search pattern, case-insensitive and linear in time, and checks the options.
 *
 * @throws `configuration` for a pattern that is empty, above 256 characters, malformed, or beyond what
 * {@link compileLinearPattern} supports.
 */
export function assertSearch(
  pattern: string,
  options: FileSearchOptions,
): { startSearch: (line: string) => LineSearch; limit: number; timeoutMs: number } {
  const { limit = 100, timeoutMs = 1_000 } = options;
  assertCount(limit, "limit", 1);
  assertTimeout(timeoutMs, "timeoutMs");
  if (typeof pattern !== "string" || pattern === "" || pattern.length > MAX_PATTERN_LENGTH) {
    throw configurationError("pattern", `must be a regular expression of 1 to ${MAX_PATTERN_LENGTH} characters`);
  }
  return { startSearch: compileLinearPattern(pattern), limit, timeoutMs };
}
