export type { PostgresClient, PostgresPool, PostgresPoolClient, PostgresResult, PostgresStatement } from "./client.ts";
export type { PostgresConnectionOptions } from "./connection-options.ts";
export type { PostgresHistoryStoreOptions } from "./options.ts";
export { PostgresHistoryStore } from "./postgres-history-store.ts";
export type { DeleteExpiredOptions, EraseFilter, RemovedConversations } from "./removing.ts";
export { type SchemaSqlOptions, schemaSql } from "./schema.ts";
