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

/** Joiners and the two forms of an emoji. They are part of what is written where they have something to join. */
const JOINER = String.raw`(?:\u200c|\u200d|\ufe0e|\ufe0f)`;
/** What does not show: it can turn what follows around, or carry a text that a model reads and nobody sees. */
const INVISIBLE = new RegExp(String.raw`(?!${JOINER})[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]`, "gu");
/** Joiners at the start or one after another, but for the one between two emoji of which the first has a form. */
const STRAY = new RegExp(String.raw`(?<=^|\u200c|\u200d|\ufe0e)${JOINER}|(?<=\ufe0f)(?!\u200d)${JOINER}`, "gu");
/** Whatever a name may hold that would not be seen as what it is. */
const ODD = new RegExp(`(?! )${BREAKS.source}|${INVISIBLE.source}|${STRAY.source}`, "gu");

/** A text as one line without anything invisible, cut when it is long. */
export function oneLine(text: string): string {
  const line = text.toWellFormed().replace(INVISIBLE, "").replace(STRAY, "").replace(BREAKS, " ").trim();
  const characters = Array.from(line);
  return characters.length > MAX_DESCRIPTION_LENGTH
    ? `${characters.slice(0, MAX_DESCRIPTION_LENGTH - 1).join("")}…`
    : line;
}

/** True when a text holds something that does not show, or that breaks a line. */
export function hasInvisible(text: string): boolean {
  return text.search(INVISIBLE) >= 0 || text.search(STRAY) >= 0 || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

/**
 * A text in quotes, on one line, in which nothing ends the quotes or opens a tag: whatever it says, it stays the one
 * thing that it is.
 */
export function quoted(text: string): string {
  return inQuotes(oneLine(text));
}

/**
 * A name in the same quotes, but exactly as it must be given back: what would not show, or show as a plain blank, is
 * escaped as in JSON.
 */
export function quotedName(name: string): string {
  return inQuotes(name).replace(ODD, (odd) =>
    // In units and not in characters, as JSON has it.
    odd.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );
}

function inQuotes(text: string): string {
  return JSON.stringify(text).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
}
