import { readFile } from "node:fs/promises";
import { ExplainedError, UsageError } from "../errors.ts";

const LINE_FEED = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** One line of a file that is not blank. */
export interface RecordingLine {
  /** Counted from 1, blank lines included. */
  readonly number: number;
  readonly bytes: Buffer;
}

/**
 * The lines of a file of recordings. Only a line feed ends a line, so other separators inside of texts stay where they
 * are; a byte order mark and blank lines are skipped.
 *
 * @throws UsageError when there is no such file; ExplainedError when there is nothing in it.
 */
export async function recordingLines(file: string): Promise<RecordingLine[]> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new UsageError(`the recordings cannot be read: ${file}`, { cause });
  });
  const lines: RecordingLine[] = [];
  let start = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;
  for (let number = 1; start < bytes.length; number += 1) {
    const lineFeed = bytes.indexOf(LINE_FEED, start);
    const end = lineFeed < 0 ? bytes.length : lineFeed;
    const line = bytes.subarray(start, end);
    if (!isBlank(line)) {
      lines.push({ number, bytes: line });
    }
    start = end + 1;
  }
  if (lines.length === 0) {
    throw new ExplainedError(`there are no conversations in ${file}`);
  }
  return lines;
}

/** The text of a line. @throws ExplainedError for bytes that are not UTF-8. */
export function lineText({ bytes }: RecordingLine): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ExplainedError("the line is not UTF-8 text");
  }
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 32 || byte === 9 || byte === 13);
}
