import type { BlobAppendClient } from "./client.ts";
import { IncompleteAnswer, tagOf } from "./etags.ts";
import type { Piece } from "./parsing.ts";
import { decodeSegmentInfo } from "./segment.ts";
import type { SteppedCall } from "./stepped-call.ts";

/**
 * Downloads a piece of a segment, from `start` to `end` or to its end.
 *
 * @throws IncompleteAnswer for an answer that is not all of it, `corrupt` for a blob that is none of ours
 */
export async function downloadPiece(
  call: SteppedCall,
  blob: BlobAppendClient,
  segment: number,
  start: number,
  end?: number,
): Promise<Piece> {
  const count = end === undefined ? undefined : end - start;
  const answer = await blob.download(start, count, { abortSignal: call.signal, maxRetryRequests: 0 });
  const pieces: Buffer[] = [];
  for await (const piece of answer.readableStreamBody ?? []) {
    pieces.push(typeof piece === "string" ? Buffer.from(piece) : piece);
  }
  const bytes = Buffer.concat(pieces);
  const { blobType, contentLength, contentRange, etag, blobCommittedBlockCount: blocks = 0, metadata } = answer;
  // Who asks for everything is not told a range. An answer to another question than the one that was asked has another.
  const all = start === 0 && end === undefined ? `bytes 0-0/${bytes.length}` : "";
  const [, from, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(contentRange ?? all) ?? [];
  if (blobType === undefined || bytes.length !== contentLength || Number(from) !== start) {
    throw new IncompleteAnswer("the download is not what was asked for, or ended before all of it was there");
  }
  const info = decodeSegmentInfo(segment, metadata);
  return { info, start, bytes, end: { etag: tagOf(etag), size: Number(size), blocks } };
}
