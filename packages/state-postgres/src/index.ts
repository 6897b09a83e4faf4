export type { PostgresClient, PostgresPool, PostgresPoolClient, PostgresResult, PostgresStatement } from "./client.ts";
export type { PostgresConnectionOptions } from "./connection-options.ts";
export type { PostgresStateStoreOptions } from "./options.ts";
export { PostgresStateStore } from "./postgres-state-store.ts";
export type { DeleteExpiredOptions, EraseFilter, RemovedItems } from "./removing.ts";
export { type SchemaSqlOptions, schemaSql } from "./schema.ts";
