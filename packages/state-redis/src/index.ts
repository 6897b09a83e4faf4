export type { RedisClient } from "./client.ts";
export type { RedisStateStoreConnection, RedisStateStoreOptions } from "./options.ts";
export { RedisStateStore } from "./redis-state-store.ts";
