export { BlobHistoryStore } from "./blob-history-store.ts";
export type {
  BlobAppendClient,
  BlobConditions,
  BlobContainerClient,
  BlobCredential,
  BlobDownload,
  BlobListItem,
  BlobListPage,
  BlobRequestOptions,
  BlobTokenCredential,
} from "./client.ts";
export type { ErasedConversations, EraseFilter } from "./erasing.ts";
export type { BlobConnectionOptions, BlobHistoryStoreOptions } from "./options.ts";
