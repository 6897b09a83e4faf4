export type { RedisClient } from "./client.ts";
export type { RedisConnectionOptions, RedisHistoryStoreOptions } from "./options.ts";
export { RedisHistoryStore } from "./redis-history-store.ts";
