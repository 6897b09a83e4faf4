import { configurationError } from "./errors.ts";
import type { FileSearchOptions } from "./ports/file-store.ts";
import { assertCount } from "./store-input.ts";
import { assertTimeout } from "./deadline.ts";

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
 * Compiles a search pattern, case-insensitive, and checks the options.
 *
 * @throws `configuration` for a pattern above 256 characters, a malformed one, or one that repeats a group that
 * repeats: such patterns can take exponential time in a backtracking engine.
 */
export function assertSearch(
  pattern: string,
  options: FileSearchOptions,
): { expression: RegExp; limit: number; timeoutMs: number } {
  const { limit = 100, timeoutMs = 1_000 } = options;
  assertCount(limit, "limit", 1);
  assertTimeout(timeoutMs, "timeoutMs");
  if (typeof pattern !== "string" || pattern === "" || pattern.length > MAX_PATTERN_LENGTH) {
    throw configurationError("pattern", `must be a regular expression of 1 to ${MAX_PATTERN_LENGTH} characters`);
  }
  if (repeatsARepeat(pattern)) {
    throw configurationError("pattern", "must not repeat a group that itself repeats or offers alternatives");
  }
  try {
    return { expression: new RegExp(pattern, "iu"), limit, timeoutMs };
  } catch (error) {
    throw configurationError("pattern", "must be a well-formed regular expression", error);
  }
}

/** True for a quantified group that holds a quantifier or an alternative, at any depth, and for back-references. */
function repeatsARepeat(pattern: string): boolean {
  const body = pattern.replace(/\\[1-9k]/g, "(a*)*").replace(/\\./gs, "a").replace(/\[[^\]]*\]/g, "a");
  const open: boolean[] = [];
  for (let index = 0; index < body.length; index += 1) {
    const character = body[index];
    if (character === "(") {
      open.push(false);
      if (body[index + 1] === "?") {
        // The mark after the parenthesis names the kind of group; it repeats nothing.
        index += 1;
      }
    } else if (character === ")") {
      const risky = open.pop() ?? false;
      const quantified = /^[*+{]/.test(body.slice(index + 1));
      if (risky && quantified) {
        return true;
      }
      if ((risky || quantified) && open.length > 0) {
        open[open.length - 1] = true;
      }
    } else if (character !== undefined && "*+{|?".includes(character) && open.length > 0) {
      open[open.length - 1] = true;
    }
  }
  return false;
}
