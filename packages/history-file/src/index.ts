export { FileHistoryStore } from "./file-history-store.ts";
export type { FileHistoryStoreOptions } from "./options.ts";
