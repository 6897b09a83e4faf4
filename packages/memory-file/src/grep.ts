import type { MemoryFiles, MemoryMatch } from "./memory-files.ts";

/** What a search shows at most: lines, characters of one line, characters of all lines. */
const MAX_LINES = 100;
const MAX_LINE_LENGTH = 400;
const MAX_LENGTH = 20_000;

/** The lines of one file that match, as the model sees them. */
export interface FileMatches {
  readonly file_name: string;
  readonly matching_lines: { readonly line_number: number; readonly line: string }[];
}

/** What was left out. */
export interface CutNote {
  readonly note: string;
}

/** Searches the memory files. What is shown is bounded; what was cut is said at the end. */
export async function grep(
  files: MemoryFiles,
  pattern: string,
  glob: string | undefined,
  signal: AbortSignal,
): Promise<(FileMatches | CutNote)[]> {
  const { matches, isCut } = await files.search(pattern, glob, signal);
  // One more than is shown tells that there are more.
  const numbered = await files.numbered(matches, MAX_LINES + 1, signal);
  const { shown, isLineCut } = bounded(numbered);
  const notes = [
    ...(shown.length < numbered.length || isCut
      ? [`Only the first ${shown.length} matching lines are shown; use a narrower pattern or a glob_pattern.`]
      : []),
    ...(isLineCut ? [`Lines are cut after ${MAX_LINE_LENGTH} characters; file_memory_read shows them whole.`] : []),
  ];
  return [...byFile(shown), ...(notes.length === 0 ? [] : [{ note: notes.join(" ") }])];
}

function bounded(matches: readonly MemoryMatch[]): { shown: MemoryMatch[]; isLineCut: boolean } {
  const shown: MemoryMatch[] = [];
  let left = MAX_LENGTH;
  let isLineCut = false;
  for (const match of matches.slice(0, MAX_LINES)) {
    const line = cut(match.line);
    left -= line.length + match.name.length;
    if (left < 0) {
      break;
    }
    isLineCut ||= line !== match.line;
    shown.push({ ...match, line });
  }
  return { shown, isLineCut };
}

function cut(line: string): string {
  return line.length <= MAX_LINE_LENGTH ? line : `${line.slice(0, MAX_LINE_LENGTH).toWellFormed()}…`;
}

function byFile(matches: readonly MemoryMatch[]): FileMatches[] {
  const files = new Map<string, FileMatches>();
  for (const { name, lineNumber, line } of matches) {
    const file = files.get(name) ?? { file_name: name, matching_lines: [] };
    file.matching_lines.push({ line_number: lineNumber, line });
    files.set(name, file);
  }
  return [...files.values()];
}
