/*
 * JSON.parse changes numbers: 9007199254740993 becomes ...992 and 1.0 becomes 1. A value that must come back as it was
 * written, as those of a state store must, is therefore cut out of the text around it, and put into it, as text.
 */

/** The members of the outermost object of a valid JSON text, each as the text that it has. Of two, the last one counts. */
export function memberTexts(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] === '"') {
    const nameEnd = skipString(text, at);
    const name: unknown = JSON.parse(text.slice(at, nameEnd));
    // Behind the name come a colon and the value.
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = skipValue(text, start);
    members.set(String(name), text.slice(start, end));
    at = skipSpace(text, skipSpace(text, end) + 1);
  }
  return members;
}

/** A valid JSON text without the white space between its tokens. */
export function compactJson(text: string): string {
  const parts: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; ) {
    if (text[at] === '"') {
      at = skipString(text, at);
    } else if (isSpace(text.charCodeAt(at))) {
      parts.push(text.slice(start, at));
      at = skipSpace(text, at);
      start = at;
    } else {
      at += 1;
    }
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(start);
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) {
    at += 1;
  }
  return at;
}

/** Behind the closing quote of the string that begins at `from`. */
function skipString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') {
    at += text[at] === "\\" ? 2 : 1;
  }
  return at + 1;
}

/** Behind the value that begins at `from`. */
function skipValue(text: string, from: number): number {
  if (text[from] === '"') {
    return skipString(text, from);
  }
  let depth = 0;
  for (let at = from; at < text.length; ) {
    const character = text[at] ?? "";
    if (character === '"') {
      at = skipString(text, at);
      continue;
    }
    const isClosing = character === "}" || character === "]";
    if (depth === 0 && (isClosing || character === "," || isSpace(text.charCodeAt(at)))) {
      return at;
    }
    depth += character === "{" || character === "[" ? 1 : isClosing ? -1 : 0;
    at += 1;
    if (depth === 0 && isClosing) {
      return at;
    }
  }
  return text.length;
}
