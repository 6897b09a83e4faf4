import { withDefaults } from "@agentfw/core/backend";
import { assertPartitions, namesIn } from "./names.ts";
import { assertSchemaName } from "./quoting.ts";
import { readFunction } from "./read-function.ts";
import { StoreSchema } from "./store-schema.ts";
import { type Table, tableDefinition } from "./tables.ts";
import { appendFunction, removeFunctions, replaceFunction } from "./write-functions.ts";

/** Options of {@link schemaSql}. */
export interface SchemaSqlOptions {
  /** The schema that holds the tables. @default "agentfw" */
  readonly schema?: string | undefined;
  /** Hash partitions of both tables, 2 to 256. @default none */
  readonly partitions?: number | undefined;
}

/** Room on each page for new versions of its rows, because each turn writes one. */
const CONVERSATION_STORAGE = "fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05";
const RECORD_STORAGE = "autovacuum_vacuum_insert_scale_factor = 0.1";

/**
 * The statements that create what the store needs, for teams that apply them with tools of their own. They may be
 * applied again: what is there stays as it is, and a table of that name with other columns ends them with an error.
 *
 * @throws `configuration` naming the option and the rule.
 */
export function schemaSql(options: SchemaSqlOptions = {}): string {
  const { schema, partitions } = withDefaults<Required<SchemaSqlOptions>>(options, "options", {
    schema: "agentfw",
    partitions: undefined,
  });
  assertSchemaName(schema);
  assertPartitions(partitions);
  return schemaOf(schema, partitions).script();
}

/** All that the store has in a schema of this name. */
export function schemaOf(schema: string, partitions: number | undefined): StoreSchema {
  const names = namesIn(schema);
  const conversation: Table = {
    name: names.conversation,
    columns: [
      "k uuid not null",
      "owner_key uuid not null",
      "owner text",
      "source text not null",
      "session text not null",
      "seq bigint not null",
      "updated_at timestamp with time zone not null",
      "expires_at timestamp with time zone",
      "expires_hour integer",
    ],
    keys: ["k"],
    indexes: ["owner_key,k", "expires_hour"],
  };
  const record: Table = {
    name: names.record,
    // Ids are compared byte by byte, whatever the database's own rules for text are.
    columns: [
      "k uuid not null",
      "seq bigint not null",
      'id text COLLATE "C" not null',
      "data text not null",
      "stamp bigint",
    ],
    keys: ["k,seq", "k,id"],
    indexes: [],
  };
  return new StoreSchema({
    schema,
    names,
    tables: [conversation, record],
    creation: [
      ...tableStatements(conversation, partitions, CONVERSATION_STORAGE),
      `CREATE INDEX IF NOT EXISTS history_conversation_owner ON ${names.conversation} (owner_key, k)`,
      `CREATE INDEX IF NOT EXISTS history_conversation_expiry ON ${names.conversation} (expires_hour)
WHERE expires_hour IS NOT NULL`,
      ...tableStatements(record, partitions, RECORD_STORAGE),
    ],
    functions: [readFunction(names), appendFunction(names), replaceFunction(names), ...removeFunctions(names)],
  });
}

/** Create a table, and its partitions where there are some: those carry the settings then. */
function tableStatements(table: Table, partitions: number | undefined, storage: string): string[] {
  const { name } = table;
  if (partitions === undefined) {
    return [`${tableDefinition(table)} WITH (${storage})`];
  }
  const parts = Array.from(
    { length: partitions },
    (_, index) => `CREATE TABLE IF NOT EXISTS ${name}_${index} PARTITION OF ${name}
FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${index}) WITH (${storage})`,
  );
  return [`${tableDefinition(table)} PARTITION BY HASH (k)`, ...parts];
}
