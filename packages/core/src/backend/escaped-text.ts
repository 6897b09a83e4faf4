const NEEDS_ESCAPE = /[\\\0\n]|\p{Cs}/u;
const ESCAPABLE = /[\\\0\n]|\p{Cs}/gu;
const ESCAPED = /\\(?:\\|u([0-9a-f]{4}))/g;

/**
 * A text without what databases cannot hold, NUL and lone surrogates, and on one line; different for any two texts, and still
 * readable. Stored layouts are made of it: what it gives for a text never changes.
 */
export function escapeText(text: string): string {
  return NEEDS_ESCAPE.test(text)
    ? text.replace(ESCAPABLE, (one) =>
        one === "\\" ? "\\\\" : `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
      )
    : text;
}

/** The text that {@link escapeText} was given. */
export function unescapeText(text: string): string {
  return text.includes("\\")
    ? text.replace(ESCAPED, (_, unit?: string) =>
        unit === undefined ? "\\" : String.fromCharCode(Number.parseInt(unit, 16)),
      )
    : text;
}
