import { type Call, jitter } from "./call.ts";
import type { BlobAppendClient, BlobContainerClient, BlobListItem } from "./client.ts";
import { retryAfterMs, verdictOf } from "./verdicts.ts";

/** A page of a listing, and where the next one begins, if there is one. */
export interface ListedBlobs {
  readonly items: readonly BlobListItem[];
  readonly marker: string | undefined;
}

const MOST_TRIES = 4;
const FIRST_PAUSE_MS = 40;
const MOST_BLOB_CLIENTS = 1_000;

/** Requests to a container. Each is tried again where that may help, until the call is over. */
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

  /** One page of the blobs whose names begin with `prefix`, with their metadata, in the order of their names. */
  list(call: Call, prefix: string, maxPageSize: number, marker?: string): Promise<ListedBlobs> {
    return this.#request(call, async (container) => {
      const blobs = container.listBlobsFlat({ abortSignal: call.signal, prefix, includeMetadata: true });
      const settings = marker === undefined ? { maxPageSize } : { maxPageSize, continuationToken: marker };
      for await (const { segment, continuationToken } of blobs.byPage(settings)) {
        // The service may give an empty page and say that there is more: that is not nothing.
        if (segment.blobItems.length > 0 || !continuationToken) {
          return { items: segment.blobItems, marker: continuationToken || undefined };
        }
      }
      return { items: [], marker: undefined };
    });
  }

  /** Asks something of one blob. With `isCommit` the call may have had its effect from then on. */
  ask<T>(call: Call, name: string, send: (blob: BlobAppendClient) => Promise<T>, isCommit?: boolean): Promise<T> {
    return this.#request(call, (container) => send(this.#blobOf(container, name)), isCommit);
  }

  async #request<T>(call: Call, send: (container: BlobContainerClient) => Promise<T>, isCommit = false): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      call.signal.throwIfAborted();
      const wasOpen = call.isOpen;
      // As it was when this was sent: another call may make the container before the answer comes.
      const mayMake = this.#createContainer && !this.#wasThere && tries < MOST_TRIES;
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
        call.isOpen = wasOpen;
        call.note(error, isCommit);
        const isNew = mayMake && verdictOf(error) === "no-container";
        const problem = isNew ? await this.#makeContainer(call) : error;
        if (problem !== undefined) {
          await pauseAfter(call, problem, isNew ? tries + 1 : tries);
        }
      }
    }
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
  #blobOf(container: BlobContainerClient, name: string): BlobAppendClient {
    let blob = this.#blobs.get(name);
    if (blob === undefined) {
      if (this.#blobs.size >= MOST_BLOB_CLIENTS) {
        this.#blobs.clear();
      }
      blob = container.getAppendBlobClient(name);
      this.#blobs.set(name, blob);
    }
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

/** Waits until a request may be sent again that failed so often. @throws what it ran into where that does not help */
async function pauseAfter(call: Call, problem: unknown, tries: number): Promise<void> {
  const pauseMs = Math.max(jitter(FIRST_PAUSE_MS * 3 ** (tries - 1)), retryAfterMs(problem));
  if (tries >= MOST_TRIES || !["busy", "lost"].includes(verdictOf(problem)) || pauseMs >= call.remainingMs) {
    throw problem;
  }
  await call.pause(pauseMs);
}
