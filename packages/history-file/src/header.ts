import { join } from "node:path";
import { corruptError } from "./errors.ts";
import { readRange } from "./file-calls.ts";
import { conversationPath } from "./file-names.ts";
import { type ConversationHeader, decodeHeader } from "./line-format.ts";

const LINE_FEED = 10;
const BLOCK_BYTES = 4096;

/**
 * Reads the first line. Undefined: it was never completed, so there is no conversation.
 *
 * @throws `corrupt` when the line is complete and no header, or that of another conversation than the name of the file
 * says; `unsupported` when it is of a later version.
 */
export async function readHeader(
  descriptor: number,
  size: number,
  root: string,
  file: string,
): Promise<{ header: ConversationHeader; headerEnd: number } | undefined> {
  const line = await readLineAt(descriptor, 0, size);
  if (line === undefined) {
    return undefined;
  }
  const header = decodeHeader(line);
  if (header === undefined) {
    throw corruptError("the header of the conversation cannot be read", "byte 0", file);
  }
  if (join(root, ...conversationPath(header.key)) !== file) {
    throw corruptError("the file holds another conversation than its name says", "byte 0", file);
  }
  return { header, headerEnd: line.length + 1 };
}

/** The line that starts at `start`, without its line feed; undefined when none ends before `limit`. */
export async function readLineAt(descriptor: number, start: number, limit: number): Promise<Buffer | undefined> {
  for (let bytes = BLOCK_BYTES; ; bytes *= 2) {
    const end = Math.min(limit, start + bytes);
    const block = await readRange(descriptor, start, end);
    const lineFeed = block.indexOf(LINE_FEED);
    if (lineFeed >= 0) {
      return block.subarray(0, lineFeed);
    }
    if (end >= limit || block.length < end - start) {
      return undefined;
    }
  }
}
