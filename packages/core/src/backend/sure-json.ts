/*
 * The parser says whether a text is JSON, but builds all of it to say so: for the records of a turn that costs as much as
 * all else that is done with them here. This only looks at a text, and leaves to the parser what is not sure: so it need
 * not know white space between tokens, `\u` and deep nesting.
 */

/** A text whose strings hold what they say: nothing escaped, no surrogates, no control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are exactly what no JSON string holds.
const PLAIN = /^[^\0-\x1f\\\ud800-\udfff]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const STRING = /"(?:[^"\\\0-\x1f]|\\["\\/bfnrt])*"/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** These expressions take some space for each character. */
const LONGEST = 100_000;
const DEEPEST = 30;
const [QUOTE, COMMA, COLON] = [0x22, 0x2c, 0x3a];
const [BRACKET, BRACE] = [0x5b, 0x7b];
/** From a bracket or brace to the one that closes it. */
const TO_CLOSING = 2;

/** True for a text that is JSON for sure, on one line and of well-formed Unicode. False says nothing. */
export function isSurelyJson(text: string): boolean {
  if (text.length > LONGEST) {
    return false;
  }
  const isPlain = PLAIN.test(text);
  if (!isPlain && !text.isWellFormed()) {
    return false;
  }
  let at = 0;
  let depth = 0;
  // A bit for each level, set for an array.
  let arrays = 0;
  while (at >= 0) {
    const code = text.charCodeAt(at);
    const isOpening = code === BRACE || code === BRACKET;
    if (isOpening && text.charCodeAt(at + 1) !== code + TO_CLOSING) {
      if (depth === DEEPEST) {
        return false;
      }
      arrays = code === BRACKET ? arrays | (1 << depth) : arrays & ~(1 << depth);
      depth += 1;
      at = code === BRACKET ? at + 1 : nameEnd(text, at + 1, isPlain);
      continue;
    }
    at = isOpening ? at + 2 : scalarEnd(text, at, isPlain);
    while (depth > 0 && text.charCodeAt(at) === opening(arrays, depth) + TO_CLOSING) {
      at += 1;
      depth -= 1;
    }
    if (depth === 0) {
      return at === text.length;
    }
    if (text.charCodeAt(at) !== COMMA) {
      return false;
    }
    at = opening(arrays, depth) === BRACKET ? at + 1 : nameEnd(text, at + 1, isPlain);
  }
  return false;
}

function opening(arrays: number, depth: number): number {
  return (arrays >> (depth - 1)) & 1 ? BRACKET : BRACE;
}

/** Behind a name and its colon, or below 0. */
function nameEnd(text: string, at: number, isPlain: boolean): number {
  const end = text.charCodeAt(at) === QUOTE ? stringEnd(text, at, isPlain) : -1;
  return end > 0 && text.charCodeAt(end) === COLON ? end + 1 : -1;
}

/** Behind the string, the number or the word that begins here, or below 0. */
function scalarEnd(text: string, at: number, isPlain: boolean): number {
  return text.charCodeAt(at) === QUOTE ? stringEnd(text, at, isPlain) : endOf(SCALAR, text, at);
}

/** Behind the string that begins here, or below 0. */
function stringEnd(text: string, at: number, isPlain: boolean): number {
  if (!isPlain) {
    return endOf(STRING, text, at);
  }
  const end = text.indexOf('"', at + 1);
  return end < 0 ? -1 : end + 1;
}

function endOf(token: RegExp, text: string, at: number): number {
  token.lastIndex = at;
  return token.test(text) ? token.lastIndex : -1;
}
