import { AgentFrameworkError, assertCount, configurationError } from "@agentfw/core";
import { ToolArguments } from "./tool-arguments.ts";

/** Characters that a text may have after a change. No store needs more, and much longer ones would end the process. */
const MAX_LENGTH = 64 * 1024 * 1024;

/** One line to replace. */
export interface LineEdit {
  /** Counted from 1, in the text as it was before all edits. */
  readonly lineNumber: number;
  /** Put in its place as it is, with its line break; empty removes the line. */
  readonly newLine: string;
}

/**
 * How often a text occurs in another without overlap, and the other with it replaced: once, or everywhere.
 *
 * @throws `configuration` when it does not occur, or occurs more often than once and not all are meant; `too_large`
 * before anything is put together that no store would take.
 */
export function replaced(
  content: string,
  oldText: string,
  newText: string,
  all: boolean,
): { text: string; count: number } {
  const count = occurrences(content, oldText);
  if (count === 0) {
    throw configurationError("old_string", "does not occur in the file");
  }
  if (count > 1 && !all) {
    throw configurationError(
      "old_string",
      `occurs ${count} times; give more of what is around it, or set replace_all to true`,
    );
  }
  const length = content.length + count * (newText.length - oldText.length);
  if (length > MAX_LENGTH) {
    throw new AgentFrameworkError("too_large", `the file would have ${length} characters`);
  }
  return { text: content.replaceAll(oldText, () => newText), count };
}

function occurrences(content: string, text: string): number {
  let count = 0;
  for (let at = content.indexOf(text); at >= 0; at = content.indexOf(text, at + text.length)) {
    count += 1;
  }
  return count;
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
  const edits = value.map((edit: unknown) => {
    const args = new ToolArguments(edit, "edits", ["line_number", "new_line"]);
    const lineNumber = args.get("line_number");
    assertCount(lineNumber, "line_number", 1);
    return { lineNumber, newLine: args.text("new_line") };
  });
  if (new Set(edits.map(({ lineNumber }) => lineNumber)).size < edits.length) {
    throw configurationError("line_number", "must not repeat; give each line once");
  }
  return edits;
}
