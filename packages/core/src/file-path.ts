import { assertTimeout } from "./deadline.ts";
import { configurationError } from "./errors.ts";
import type { FileSearchOptions } from "./ports/file-store.ts";
import { assertCallOptions, assertCount, utf8Length } from "./store-input.ts";

/** Device names that some systems reserve, with or without an extension; superscript digits count as digits there. */
const DEVICE_NAME = /^(con(in\$|out\$)?|prn|aux|nul|(com|lpt)[\d¹²³])(\.|$)/i;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what is refused.
const FORBIDDEN_CHARACTER = /[\u0000-\u001f\u007f\\:*?"<>|]/;

/**
 * Refuses a path that is not relative, normalized and portable: it must consist of non-empty segments between `/`,
 * none of them `.` or `..`, a reserved device name, longer than 255 bytes, or ending in a dot or a blank, without
 * control characters, `\ : * ? " < > |` and lone surrogates.
 *
 * @throws `configuration` naming the rule.
 */
export function assertFilePath(path: string, field: string): void {
  if (typeof path !== "string" || path === "" || path.startsWith("/")) {
    throw configurationError(field, "must be a non-empty relative path");
  }
  if (FORBIDDEN_CHARACTER.test(path) || !path.isWellFormed()) {
    throw configurationError(field, 'must not hold control characters, lone surrogates or \\ : * ? " < > |');
  }
  for (const segment of path.split("/")) {
    if (/^ |[. ]$|^$/.test(segment) || DEVICE_NAME.test(segment) || utf8Length(segment) > 255) {
      throw configurationError(
        field,
        "segments must have 1 to 255 bytes, name no device, begin in no blank and end in no blank or dot",
      );
    }
  }
}

/** The form under which names clash on the strictest file systems: one Unicode form, one case. */
export function foldFileName(path: string): string {
  return path.normalize("NFKC").toLowerCase().normalize("NFKC");
}

/** Checks the options of a search. @throws `configuration` for a pattern that is empty or above 256 characters. */
export function assertSearch(pattern: string, options: FileSearchOptions): { limit: number; timeoutMs: number } {
  assertCallOptions(options);
  const { limit = 100, timeoutMs = 1_000 } = options;
  assertCount(limit, "limit", 1);
  assertTimeout(timeoutMs, "timeoutMs");
  if (typeof pattern !== "string" || pattern === "" || pattern.length > 256) {
    throw configurationError("pattern", "must be a regular expression of 1 to 256 characters");
  }
  return { limit, timeoutMs };
}
