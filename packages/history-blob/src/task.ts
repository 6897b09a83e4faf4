import type { BlobAppendClient } from "./client.ts";
import type { Contention } from "./contention.ts";
import { downloadPiece } from "./download.ts";
import { tagOf } from "./etags.ts";
import { SEGMENT_PREFIX, segmentName, segmentNumber } from "./names.ts";
import { type End, emptyPiece, type Piece } from "./parsing.ts";
import { encodeSegmentInfo, type SegmentInfo } from "./segment.ts";
import type { ListedBlobs, Service } from "./service.ts";
import type { SteppedCall } from "./stepped-call.ts";
import type { Tail } from "./tail.ts";
import { undefinedFor } from "./verdicts.ts";

/** A conversation, and what this store knows of its end. */
export interface Conversation {
  readonly directory: string;
  /** The key as metadata, where it is needed and known: who erases knows folders only. */
  names: string | undefined;
  readonly contention: Contention;
  tail: Tail | undefined;
}

const CONTENT_TYPE = "application/x-ndjson";

/** What a call does with a conversation: the requests about its segments. */
export class Task {
  readonly call: SteppedCall;
  readonly conversation: Conversation;
  readonly #service: Service;

  constructor(call: SteppedCall, conversation: Conversation, service: Service) {
    this.call = call;
    this.conversation = conversation;
    this.#service = service;
  }

  /** A page of the segments, newest first. */
  list(limit: number, marker?: string): Promise<ListedBlobs> {
    return this.#service.list(this.call, this.conversation.directory + SEGMENT_PREFIX, limit, marker);
  }

  /** The number of a segment that a listing gave. Undefined: it is a blob of someone else. */
  numberOf(name: string): number | undefined {
    return segmentNumber(name.slice(this.conversation.directory.length));
  }

  /**
   * A piece of a segment from `start` to its end, or to `end`. Undefined: the blob is gone, or ends before `start`.
   *
   * @throws `corrupt` for a blob that is none of ours
   */
  read(segment: number, start: number, end?: number): Promise<Piece | undefined> {
    return this.#ask(segment, (blob) => downloadPiece(this.call, blob, segment, start, end)).catch(
      undefinedFor("no-blob", "no-range"),
    );
  }

  /** Makes an empty segment. Undefined: there is one. */
  create(info: SegmentInfo): Promise<Piece | undefined> {
    return this.#ask(info.segment, async (blob) => {
      const { etag } = await blob.create({
        abortSignal: this.call.signal,
        conditions: { ifNoneMatch: "*" },
        metadata: encodeSegmentInfo(info, this.conversation.names),
        blobHTTPHeaders: { blobContentType: CONTENT_TYPE },
      });
      return emptyPiece(info, tagOf(etag));
    }).catch(undefinedFor("exists", "condition"));
  }

  /**
   * Appends one block where the segment still ends as it was seen, else nothing. With `isCommit` the call's effect is there
   * when the block is. Gives the new end.
   */
  append(segment: number, { etag: ifMatch, size }: End, block: Buffer, isCommit: boolean): Promise<End> {
    const send = async (blob: BlobAppendClient): Promise<End> => {
      const conditions = { ifMatch, appendPosition: size };
      const options = { abortSignal: this.call.signal, conditions };
      const { etag, blobCommittedBlockCount: blocks = 0 } = await blob.appendBlock(block, block.length, options);
      return { etag: tagOf(etag), size: size + block.length, blocks };
    };
    return this.#ask(segment, send, isCommit);
  }

  /** Deletes a blob if it is still the one that was seen. */
  async delete(name: string, etag: string): Promise<void> {
    const options = {
      abortSignal: this.call.signal,
      conditions: { ifMatch: tagOf(etag) },
      // A blob that has some is not deleted without them, and they hold what is to be gone.
      deleteSnapshots: "include",
    } as const;
    // Otherwise someone else has deleted it, and perhaps made another one.
    await this.#service
      .ask(this.call, name, (blob) => blob.delete(options))
      .catch(undefinedFor("no-blob", "condition"));
  }

  /** Forgets what is known of the end, unless something else has come to be known meanwhile. */
  forget(tail: Tail | undefined): void {
    if (this.conversation.tail === tail) {
      this.conversation.tail = undefined;
    }
  }

  #ask<T>(segment: number, send: (blob: BlobAppendClient) => Promise<T>, isCommit?: boolean): Promise<T> {
    return this.#service.ask(this.call, segmentName(this.conversation.directory, segment), send, isCommit);
  }
}
