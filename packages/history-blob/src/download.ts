import type { Call } from "./call.ts";
import type { BlobAppendClient, BlobDownload } from "./client.ts";
import { quoted } from "./etags.ts";
import { decodeSegmentInfo } from "./segment.ts";
import type { Piece } from "./service.ts";

/** What is asked for. Without a count it is everything from `start` on. */
export interface Range {
  readonly segment: number;
  readonly start: number;
  readonly count: number | undefined;
}

/** Downloads a piece of a segment. @throws Error for an answer that is not all of it, `corrupt` for a blob that is none of ours */
export async function downloadPiece(call: Call, blob: BlobAppendClient, range: Range): Promise<Piece> {
  const { segment, start, count } = range;
  const answer = await blob.download(start, count, { abortSignal: call.signal, maxRetryRequests: 0 });
  const pieces: Buffer[] = [];
  for await (const piece of answer.readableStreamBody ?? []) {
    pieces.push(typeof piece === "string" ? Buffer.from(piece) : piece);
  }
  const bytes = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  const size = sizeOf(answer, range, bytes.length);
  const info = decodeSegmentInfo(segment, answer.metadata);
  const { etag, blobCommittedBlockCount = 0 } = answer;
  return { info, segment, start, bytes, size, etag: quoted(etag), blocks: blobCommittedBlockCount };
}

/** The size of the whole segment. An answer to another question than the one that was asked has none. */
function sizeOf(answer: BlobDownload, { start, count }: Range, bytes: number): number {
  const { blobType, contentLength, contentRange } = answer;
  const [, from, size] = /^bytes (\d+)-\d+\/(\d+)$/.exec(contentRange ?? "") ?? [];
  const isAll = contentRange === undefined && start === 0 && count === undefined;
  if (blobType === undefined || bytes !== contentLength || (!isAll && Number(from) !== start)) {
    throw new Error("the download is not what was asked for, or ended before all of it was there");
  }
  return isAll ? bytes : Number(size);
}
