import { assertOptions } from "@agentfw/core/backend";
import { listFunction } from "./list-function.ts";
import { assertSchemaName, dollarQuoted, LAYOUT, type Names, namesIn } from "./names.ts";
import { shapeChecks } from "./shape.ts";
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
  assertOptions(options, "options", ["schema"]);
  const { schema = "agentfw" } = options;
  assertSchemaName(schema);
  const names = namesIn(schema);
  const checks = `DO ${dollarQuoted(`\nBEGIN\n${shapeChecks(names)}END`)}`;
  const statements = [
    `CREATE SCHEMA IF NOT EXISTS ${names.schema}`,
    ...tables(names),
    checks,
    ...functionsAndVersion(names),
  ];
  return `${statements.join(";\n\n")};\n`;
}

/** What comes after the tables; the layout's number is last, so where it stands everything does. */
export function functionsAndVersion(names: Names): string[] {
  return [
    putFunction(names),
    listFunction(names),
    ...removeFunctions(names),
    `CREATE TABLE IF NOT EXISTS ${names.layout} (
  version integer PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
)`,
    `INSERT INTO ${names.layout} (version) VALUES (${LAYOUT}) ON CONFLICT (version) DO NOTHING`,
  ];
}

/** The tables and their indexes. The value comes last: what the end of a row has in common with its last version is not logged again. */
export function tables(names: Names): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${names.item} (
  k uuid PRIMARY KEY,
  owner_key uuid NOT NULL,
  owner text,
  key text NOT NULL,
  seq bigint GENERATED ALWAYS AS IDENTITY,
  etag text NOT NULL,
  tags text NOT NULL,
  tag_keys uuid[] NOT NULL,
  updated_at timestamptz NOT NULL,
  expires_at timestamptz,
  expires_hour integer,
  value text NOT NULL,
  UNIQUE (owner_key, seq)
) WITH (${ITEM_STORAGE})`,
    `CREATE INDEX IF NOT EXISTS state_item_expiry ON ${names.item} (expires_hour)
WHERE expires_hour IS NOT NULL`,
    `CREATE TABLE IF NOT EXISTS ${names.tag} (
  t uuid NOT NULL,
  seq bigint NOT NULL,
  k uuid NOT NULL,
  PRIMARY KEY (t, seq)
)`,
  ];
}
