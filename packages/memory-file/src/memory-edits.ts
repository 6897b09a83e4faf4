import { configurationError } from "@agentfw/core";

/** One line to replace. */
export interface LineEdit {
  /** Counted from 1, in the text as it was before all edits. */
  readonly lineNumber: number;
  /** Put in its place as it is, with its line break; empty removes the line. */
  readonly newLine: string;
}

/** How often a text occurs in another without overlap, and the other with it replaced: once, or everywhere. */
export function replaced(
  content: string,
  oldText: string,
  newText: string,
  all: boolean,
): { text: string; count: number } {
  const parts = content.split(oldText);
  const count = parts.length - 1;
  if (count === 0) {
    throw configurationError("old_string", "does not occur in the file");
  }
  if (count > 1 && !all) {
    throw configurationError(
      "old_string",
      `occurs ${count} times; give more of what is around it, or set replace_all to true`,
    );
  }
  return { text: parts.join(newText), count };
}

/** A text with lines replaced. @throws `configuration` for a line that is not there. */
export function withLines(content: string, edits: readonly LineEdit[]): string {
  const lines = content.split(/(?<=\n)/);
  // A line break at the end opens a last, empty line, which a search counts as well.
  if (content.endsWith("\n")) {
    lines.push("");
  }
  for (const { lineNumber, newLine } of edits) {
    if (lineNumber > lines.length) {
      throw configurationError("line_number", `${lineNumber} is beyond the end; the file has ${lines.length} lines`);
    }
    lines[lineNumber - 1] = newLine;
  }
  return lines.join("");
}

/** The edits of a call. @throws `configuration` naming what is wrong with them. */
export function editsFrom(value: unknown): LineEdit[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw configurationError("edits", "must be a list of at least one edit");
  }
  const seen = new Set<number>();
  return value.map((edit: unknown) => {
    const members = new Map(typeof edit === "object" && edit !== null ? Object.entries(edit) : []);
    const [lineNumber, newLine]: readonly unknown[] = [members.get("line_number"), members.get("new_line")];
    if (typeof lineNumber !== "number" || !Number.isSafeInteger(lineNumber) || lineNumber < 1) {
      throw configurationError("line_number", "must be a whole number of at least 1");
    }
    if (typeof newLine !== "string" || !newLine.isWellFormed()) {
      throw configurationError("new_line", "must be a text");
    }
    if (seen.has(lineNumber)) {
      throw configurationError("line_number", `${lineNumber} occurs twice; give each line once`);
    }
    seen.add(lineNumber);
    return { lineNumber, newLine };
  });
}
