export type { RedisClient } from "./client.ts";
export type { RedisHistoryStoreConnection, RedisHistoryStoreOptions } from "./options.ts";
export { RedisHistoryStore } from "./redis-history-store.ts";
