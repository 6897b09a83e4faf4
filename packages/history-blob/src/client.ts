import type { AnonymousCredential, StorageSharedKeyCredential } from "@azure/storage-blob";

/** A token credential, as every one of @azure/identity is. */
export interface BlobTokenCredential {
  getToken(
    scopes: string | string[],
    options?: object,
  ): Promise<{ readonly token: string; readonly expiresOnTimestamp: number } | null>;
}

/** What the store can sign its requests with. */
export type BlobCredential = BlobTokenCredential | StorageSharedKeyCredential | AnonymousCredential;

/** Conditions of a request, as the service knows them. */
export interface BlobConditions {
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly appendPosition?: number;
}

/** What every request takes. */
export interface BlobRequestOptions {
  readonly abortSignal?: AbortSignal;
  readonly conditions?: BlobConditions;
}

/** What a download answers. */
export interface BlobDownload {
  readonly readableStreamBody?: NodeJS.ReadableStream | undefined;
  readonly contentLength?: number | undefined;
  readonly contentRange?: string | undefined;
  readonly etag?: string | undefined;
  readonly blobType?: string | undefined;
  readonly blobCommittedBlockCount?: number | undefined;
  readonly metadata?: { readonly [name: string]: string } | undefined;
}

/** The part of `AppendBlobClient` of @azure/storage-blob that the store uses. */
export interface BlobAppendClient {
  create(
    options?: BlobRequestOptions & {
      readonly metadata?: Record<string, string>;
      readonly blobHTTPHeaders?: { readonly blobContentType?: string };
    },
  ): Promise<{ readonly etag?: string | undefined }>;
  appendBlock(
    body: Buffer,
    contentLength: number,
    options?: BlobRequestOptions,
  ): Promise<{ readonly etag?: string | undefined; readonly blobCommittedBlockCount?: number | undefined }>;
  download(
    offset?: number,
    count?: number,
    options?: BlobRequestOptions & { readonly maxRetryRequests?: number },
  ): Promise<BlobDownload>;
  delete(options?: BlobRequestOptions & { readonly deleteSnapshots?: "include" }): Promise<unknown>;
}

/** One blob in a listing. */
export interface BlobListItem {
  readonly name: string;
  readonly properties: {
    readonly etag: string;
    readonly lastModified: Date;
    readonly contentLength?: number | undefined;
    readonly blobType?: string | undefined;
  };
  readonly metadata?: { readonly [name: string]: string } | undefined;
}

/** A page of a listing. */
export interface BlobListPage {
  readonly segment: { readonly blobItems: readonly BlobListItem[] };
  readonly continuationToken?: string | undefined;
}

/** The part of `ContainerClient` of @azure/storage-blob that the store uses. */
export interface BlobContainerClient {
  getAppendBlobClient(blobName: string): BlobAppendClient;
  listBlobsFlat(options?: {
    readonly abortSignal?: AbortSignal;
    readonly prefix?: string;
    readonly includeMetadata?: boolean;
  }): {
    byPage(settings?: { continuationToken?: string; maxPageSize?: number }): AsyncIterable<BlobListPage>;
  };
  create(options?: { readonly abortSignal?: AbortSignal }): Promise<unknown>;
}
