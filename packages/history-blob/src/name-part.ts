/** A dot may neither begin nor end a part: tools and clients take such names for something else. */
const NOT_PLAIN = /[^A-Za-z0-9._@+-]|^\.|\.$/g;
const ENCODED = /^(?:[A-Za-z0-9._@+-]|=[0-9a-f]{4})+$/;
const ESCAPED = /=([0-9a-f]{4})/g;
const EMPTY = "=";

/**
 * A text as one part of the name of an object or a path: plain letters, digits and `._@+-` stand for themselves, any other UTF-16 unit
 * is `=` and four hexadecimal digits, and the empty text `=`. Different for any two texts where case counts. Stored layouts are
 * made of it: what it gives for a text never changes.
 */
export function encodeNamePart(text: string): string {
  return text.replace(NOT_PLAIN, (unit) => `=${unit.charCodeAt(0).toString(16).padStart(4, "0")}`) || EMPTY;
}

/** The text that {@link encodeNamePart} was given; undefined for what it never gives. */
export function decodeNamePart(part: string): string | undefined {
  if (part === EMPTY) {
    return "";
  }
  return ENCODED.test(part)
    ? part.replace(ESCAPED, (_, unit: string) => String.fromCharCode(Number.parseInt(unit, 16)))
    : undefined;
}
