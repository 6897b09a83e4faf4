import { RecentlyUsed } from "@agentfw/core/backend";
import type { BlobAppendClient, BlobContainerClient, BlobListItem } from "./client.ts";
import type { SteppedCall } from "./stepped-call.ts";
import { undefinedFor, verdictOf } from "./verdicts.ts";

/** A page of a listing, and where the next one begins, if there is one. */
export interface ListedBlobs {
  readonly items: readonly BlobListItem[];
  readonly marker: string | undefined;
}

const MOST_BLOB_CLIENTS = 1_000;

/** Requests to a container. */
export class Service {
  readonly #open: () => Promise<BlobContainerClient>;
  readonly #createContainer: boolean;
  /** Making a client costs more than everything else that an append does on this side. */
  readonly #blobs = new RecentlyUsed<BlobAppendClient>(MOST_BLOB_CLIENTS);
  #container: Promise<BlobContainerClient> | undefined;
  /** A container that was there once and is not any more is no new one. */
  #wasThere = false;

  constructor(open: () => Promise<BlobContainerClient>, createContainer: boolean) {
    this.#open = open;
    this.#createContainer = createContainer;
  }

  /** One page of the blobs whose names begin with `prefix`, with their metadata, in the order of their names. */
  list(call: SteppedCall, prefix: string, maxPageSize: number, marker?: string): Promise<ListedBlobs> {
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
  ask<T>(
    call: SteppedCall,
    name: string,
    send: (blob: BlobAppendClient) => Promise<T>,
    isCommit?: boolean,
  ): Promise<T> {
    return this.#request(
      call,
      (container) => {
        const blob = this.#blobs.use(name, () => container.getAppendBlobClient(name));
        return send(blob);
      },
      isCommit,
    );
  }

  #request<T>(call: SteppedCall, send: (container: BlobContainerClient) => Promise<T>, isCommit?: boolean): Promise<T> {
    return call.send(async () => {
      // As it is when this is sent: another call may make the container before the answer comes.
      const mayMake = this.#createContainer && !this.#wasThere;
      const container = await this.#use();
      const answer = await send(container).catch(async (error: unknown) => {
        if (!mayMake || verdictOf(error) !== "no-container") {
          throw error;
        }
        // Others that start at the same moment make it too.
        await container.create({ abortSignal: call.signal }).catch(undefinedFor("exists"));
        return send(container);
      });
      this.#wasThere = true;
      return answer;
    }, isCommit);
  }

  #use(): Promise<BlobContainerClient> {
    this.#container ??= this.#open().catch((error) => {
      this.#container = undefined;
      throw error;
    });
    return this.#container;
  }
}
