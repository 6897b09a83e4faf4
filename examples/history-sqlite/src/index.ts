export type { SqliteHistoryStoreOptions } from "./options.ts";
export { SqliteHistoryStore } from "./sqlite-history-store.ts";
