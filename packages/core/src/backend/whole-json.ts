/**
 * True for a text that begins and ends as JSON does. A stored text that was cut or overwritten is told by that, at no cost;
 * damage below is told by the storage's own checksums, and by whoever parses the text.
 */
export function isWholeJson(text: string): boolean {
  const ends = `${text[0]}${text.at(-1)}`;
  if (ends === "{}" || ends === "[]" || (ends === '""' && text.length > 1)) {
    return true;
  }
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
