/** The longest description that is stored and shown, in characters. */
const MAX_DESCRIPTION_LENGTH = 300;

/** A memory file taken apart. */
export interface Memory {
  readonly description: string | undefined;
  readonly content: string;
  /** The lines in front of the content in the file. */
  readonly headerLines: number;
}

/** Has one way to match only: with blanks around the value as parts of their own, a line of blanks would take forever. */
const HEADER = /^---\r?\ndescription:([^\r\n]*)\r?\n---\r?\n/;

/**
 * Takes a file apart. What describes it stands in three lines at its top, as in many collections of notes, so that both
 * are written in one step and no crash can part them.
 */
export function parseMemory(text: string): Memory {
  const [header, value] = HEADER.exec(text) ?? [];
  if (header === undefined) {
    return { description: undefined, content: text, headerLines: 0 };
  }
  const description = oneLine(unquoted((value ?? "").trim()));
  return {
    description: description === "" ? undefined : description,
    content: text.slice(header.length),
    headerLines: 3,
  };
}

/** Puts a file together; {@link parseMemory} gives the same content back, also one that looks like a header itself. */
export function formatMemory(content: string, description: string | undefined): string {
  const line = oneLine(description ?? "");
  if (line === "" && !HEADER.test(content)) {
    return content;
  }
  return `---\ndescription: ${JSON.stringify(line)}\n---\n${content}`;
}

/** The value as it was meant: people who edit such a file by hand may leave the quotes out. */
function unquoted(value: string): string {
  if (value.startsWith('"')) {
    try {
      const parsed: unknown = JSON.parse(value);
      return typeof parsed === "string" ? parsed : value;
    } catch {
      return value;
    }
  }
  return value;
}

/** Breaks, and everything that shows as one or that turns the direction of what follows. */
const BREAKS = /[\s\p{Cc}\p{Zl}\p{Zp}]+/gu;
const INVISIBLE = /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** A text as one line without anything invisible, cut when it is long. */
export function oneLine(text: string): string {
  const line = text.toWellFormed().replace(INVISIBLE, "").replace(BREAKS, " ").trim();
  const characters = Array.from(line);
  return characters.length > MAX_DESCRIPTION_LENGTH
    ? `${characters.slice(0, MAX_DESCRIPTION_LENGTH - 1).join("")}…`
    : line;
}

/** True when a text holds something that does not show, or that breaks a line. */
export function hasInvisible(text: string): boolean {
  return text.search(INVISIBLE) >= 0 || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

/**
 * A text in quotes, on one line, in which nothing ends the quotes or opens a tag: whatever it says, it stays the one
 * thing that it is.
 */
export function quoted(text: string): string {
  return JSON.stringify(oneLine(text)).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
}
