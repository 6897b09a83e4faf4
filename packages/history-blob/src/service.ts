import { randomBytes } from "node:crypto";
import type { Call } from "./call.ts";
import type { BlobAppendClient, BlobContainerClient, BlobListPage } from "./client.ts";
import { downloadPiece } from "./download.ts";
import { quoted, tagOf } from "./etags.ts";
import { segmentName } from "./names.ts";
import { encodeSegmentInfo, type SegmentInfo } from "./segment.ts";
import { retryAfterMs, type Verdict, verdictOf } from "./verdicts.ts";

/** A piece of a segment, as it was when it was asked for. */
export interface Piece {
  readonly info: SegmentInfo;
  readonly segment: number;
  readonly start: number;
  readonly bytes: Buffer;
  /** The size of the whole segment. */
  readonly size: number;
  readonly etag: string;
  readonly blocks: number;
}

/** Where a segment is. */
export interface SegmentPlace {
  readonly directory: string;
  readonly segment: number;
}

/** What an append answers. Where it is not done, nothing was written, and the verdict says why. */
export type Appended =
  | { readonly isDone: true; readonly etag: string; readonly blocks: number }
  | { readonly isDone: false; readonly verdict: Verdict };

/** How a request was sent. */
interface Sent {
  readonly tries: number;
  readonly isCommit: boolean;
  readonly wasOpen: boolean;
  readonly wasThere: boolean;
}

/** What the store asks of a service: the page that begins at a marker. */
export interface ListRequest {
  readonly prefix: string;
  readonly limit: number;
  readonly marker?: string | undefined;
}

const MOST_TRIES = 4;
const FIRST_PAUSE_MS = 40;
const MOST_BLOB_CLIENTS = 1_000;
const CONTENT_TYPE = "application/x-ndjson";

/** The requests that the store makes. Each is tried again where that may help, until the call is over. */
export class Service {
  readonly #open: () => Promise<BlobContainerClient>;
  readonly #createContainer: boolean;
  readonly #blobs = new Map<string, BlobAppendClient>();
  #container: Promise<BlobContainerClient> | undefined;
  /** A container that was there once and is not any more is no new one. */
  #wasThere = false;

  constructor(open: () => Promise<BlobContainerClient>, createContainer: boolean) {
    this.#open = open;
    this.#createContainer = createContainer;
  }

  /** One page of blobs with their metadata, in the order of their names. */
  list(call: Call, { prefix, limit, marker }: ListRequest): Promise<BlobListPage> {
    return this.#request(call, async (container) => {
      const blobs = container.listBlobsFlat({ abortSignal: call.signal, prefix, includeMetadata: true });
      const settings = { maxPageSize: limit, ...(marker === undefined ? {} : { continuationToken: marker }) };
      for await (const page of blobs.byPage(settings)) {
        // The service may give an empty page and say that there is more: that is not nothing.
        if (page.segment.blobItems.length > 0 || (page.continuationToken ?? "") === "") {
          return page;
        }
      }
      return { segment: { blobItems: [] } };
    });
  }

  /**
   * A piece of a segment from `start` to its end, or to `end`. Undefined: the blob is gone, or ends before `start`.
   *
   * @throws `corrupt` for a blob that is none of ours
   */
  async read(call: Call, place: SegmentPlace, start: number, end?: number): Promise<Piece | undefined> {
    try {
      return await this.#request(call, async (container) => {
        const blob = this.#blobOf(container, place);
        const count = end === undefined ? undefined : end - start;
        return downloadPiece(call, blob, { segment: place.segment, start, count });
      });
    } catch (error) {
      if (["no-blob", "no-range"].includes(verdictOf(error))) {
        return undefined;
      }
      throw error;
    }
  }

  /** Makes an empty segment. Undefined: there is one. */
  async create(
    call: Call,
    place: SegmentPlace,
    info: SegmentInfo,
    names: string | undefined,
  ): Promise<string | undefined> {
    try {
      return await this.#request(call, async (container) => {
        const { etag } = await this.#blobOf(container, place).create({
          abortSignal: call.signal,
          conditions: { ifNoneMatch: "*" },
          metadata: encodeSegmentInfo(info, names),
          blobHTTPHeaders: { blobContentType: CONTENT_TYPE },
        });
        return tagOf(etag);
      });
    } catch (error) {
      if (["exists", "condition"].includes(verdictOf(error))) {
        return undefined;
      }
      throw error;
    }
  }

  /**
   * Appends one block where the blob is as `etag` and `position` say, else nothing. With `isCommit` the call's effect is
   * there when the block is.
   */
  async append(
    call: Call,
    place: SegmentPlace,
    block: { readonly bytes: Buffer; readonly etag: string; readonly position: number; readonly isCommit: boolean },
  ): Promise<Appended> {
    const { bytes, etag: ifMatch, position: appendPosition, isCommit } = block;
    const send = async (container: BlobContainerClient): Promise<Appended> => {
      const { etag, blobCommittedBlockCount = 0 } = await this.#blobOf(container, place).appendBlock(
        bytes,
        bytes.length,
        {
          abortSignal: call.signal,
          conditions: { ifMatch, appendPosition },
        },
      );
      return { isDone: true, etag: tagOf(etag), blocks: blobCommittedBlockCount };
    };
    try {
      return await this.#request(call, send, isCommit);
    } catch (error) {
      const verdict = verdictOf(error);
      if (["condition", "no-blob", "full"].includes(verdict)) {
        return { isDone: false, verdict };
      }
      throw error;
    }
  }

  /** Deletes a blob if it is still the one that was seen. */
  async delete(call: Call, name: string, etag: string): Promise<void> {
    try {
      await this.#request(call, (container) =>
        container.getAppendBlobClient(name).delete({
          abortSignal: call.signal,
          conditions: { ifMatch: quoted(etag) },
          // A blob that has some is not deleted without them, and they hold what is to be gone.
          deleteSnapshots: "include",
        }),
      );
    } catch (error) {
      // Someone else has deleted it, and perhaps made another one.
      if (!["no-blob", "condition"].includes(verdictOf(error))) {
        throw error;
      }
    }
  }

  async #request<T>(call: Call, send: (container: BlobContainerClient) => Promise<T>, isCommit = false): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      call.signal.throwIfAborted();
      // As it was when this was sent: another call may make the container before the answer comes.
      const sent = { tries, isCommit, wasOpen: call.isOpen, wasThere: this.#wasThere };
      try {
        const container = await this.#use();
        call.isOpen ||= isCommit;
        const answer = await send(container);
        this.#wasThere = true;
        call.problem = undefined;
        return answer;
      } catch (error) {
        if (call.signal.aborted) {
          throw error;
        }
        await this.#recover(call, error, sent);
      }
    }
  }

  /** Waits until the request may be sent again. @throws the error where that does not help */
  async #recover(call: Call, error: unknown, { tries, isCommit, wasOpen, wasThere }: Sent): Promise<void> {
    const verdict = verdictOf(error);
    // That others came first is no problem of the service: a call that ran out of time over it was late.
    call.problem = ["busy", "lost", "refused"].includes(verdict) ? error : undefined;
    call.isOpen = wasOpen;
    // A driver with retries of its own may be told so of its second try, when the first one was carried out.
    call.isLost ||= isCommit && ["lost", "condition", "no-blob", "full"].includes(verdict);
    let problem = error;
    if (verdict === "no-container" && this.#createContainer && !wasThere && tries < MOST_TRIES) {
      problem = await this.#makeContainer(call);
    }
    if (problem === undefined) {
      return;
    }
    const pauseMs = Math.max(jitter(FIRST_PAUSE_MS * 3 ** (tries - 1)), retryAfterMs(problem));
    const mayHelp = ["busy", "lost"].includes(verdictOf(problem)) && pauseMs < call.remainingMs;
    if (!mayHelp || tries >= (problem === error ? MOST_TRIES : MOST_TRIES - 1)) {
      throw problem;
    }
    await call.pause(pauseMs);
  }

  /** Undefined: the container is there, as far as can be told. Else what is in the way. */
  async #makeContainer(call: Call): Promise<unknown> {
    try {
      await (await this.#use()).create({ abortSignal: call.signal });
      return undefined;
    } catch (error) {
      // Others that start at the same moment make it too.
      return verdictOf(error) === "exists" ? undefined : error;
    }
  }

  /** Making a client costs more than everything else that an append does on this side. */
  #blobOf(container: BlobContainerClient, { directory, segment }: SegmentPlace): BlobAppendClient {
    const name = segmentName(directory, segment);
    const known = this.#blobs.get(name);
    if (known !== undefined) {
      return known;
    }
    if (this.#blobs.size >= MOST_BLOB_CLIENTS) {
      this.#blobs.clear();
    }
    const blob = container.getAppendBlobClient(name);
    this.#blobs.set(name, blob);
    return blob;
  }

  #use(): Promise<BlobContainerClient> {
    this.#container ??= this.#open().catch((error) => {
      this.#container = undefined;
      throw error;
    });
    return this.#container;
  }
}

/** A random part of a time, at least half of it, so that many who wait do not come back together. */
export function jitter(milliseconds: number): number {
  return milliseconds * (0.5 + Math.random() / 2);
}

/** Random text that names one conversation's life, or one store. */
export function randomName(bytes: number): string {
  return randomBytes(bytes).toString("base64url");
}
