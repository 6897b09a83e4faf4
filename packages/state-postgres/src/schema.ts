import { withDefaults } from "@agentfw/core/backend";
import { listFunction } from "./list-function.ts";
import { namesIn } from "./names.ts";
import { assertSchemaName } from "./quoting.ts";
import { StoreSchema } from "./store-schema.ts";
import { type Table, tableDefinition } from "./tables.ts";
import { putFunction, removeFunctions } from "./write-functions.ts";

/** Options of {@link schemaSql}. */
export interface SchemaSqlOptions {
  /** The schema that holds the tables. @default "agentfw" */
  readonly schema?: string | undefined;
}

/** Room on each page for new versions of its rows, because state is written again and again. */
const ITEM_STORAGE = "fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05";

/**
 * The statements that create what the store needs, for teams that apply them with tools of their own. They may be
 * applied again: what is there stays as it is, and a table of that name with other columns ends them with an error.
 *
 * @throws `configuration` naming the option and the rule.
 */
export function schemaSql(options: SchemaSqlOptions = {}): string {
  const { schema } = withDefaults(options, "options", { schema: "agentfw" });
  assertSchemaName(schema);
  return schemaOf(schema).script();
}

/** All that the store has in a schema of this name. */
export function schemaOf(schema: string): StoreSchema {
  const names = namesIn(schema);
  const item: Table = {
    name: names.item,
    // The value comes last: what the end of a row has in common with its last version is not logged again.
    columns: [
      "k uuid not null",
      "owner_key uuid not null",
      "owner text",
      "key text not null",
      "seq bigint GENERATED ALWAYS AS IDENTITY not null",
      "etag text not null",
      "tags text not null",
      "tag_keys uuid[] not null",
      "updated_at timestamp with time zone not null",
      "expires_at timestamp with time zone",
      "expires_hour integer",
      "value text not null",
    ],
    keys: ["k", "owner_key,seq"],
    indexes: ["expires_hour"],
  };
  const tag: Table = {
    name: names.tag,
    columns: ["t uuid not null", "seq bigint not null", "k uuid not null"],
    keys: ["t,seq"],
    indexes: [],
  };
  return new StoreSchema({
    schema,
    names,
    tables: [item, tag],
    creation: [
      `${tableDefinition(item)} WITH (${ITEM_STORAGE})`,
      `CREATE INDEX IF NOT EXISTS state_item_expiry ON ${names.item} (expires_hour)
WHERE expires_hour IS NOT NULL`,
      tableDefinition(tag),
    ],
    functions: [putFunction(names), listFunction(names), ...removeFunctions(names)],
  });
}
