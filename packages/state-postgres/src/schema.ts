import { assertObject, configurationError } from "@agentfw/core";
import { listFunction } from "./list-function.ts";
import { assertSchemaName, dollarQuoted, LAYOUT, lockNumber, type Names, namesIn, quotedText } from "./names.ts";
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
  assertObject(options, "options");
  const unknown = Object.keys(options).find((name) => name !== "schema");
  if (unknown !== undefined) {
    throw configurationError(unknown, "is not an option of schemaSql");
  }
  const { schema = "agentfw" } = options;
  assertSchemaName(schema);
  const names = namesIn(schema);
  const checks = `DO ${dollarQuoted(`\nBEGIN\n${shapeChecks(names)}END`)}`;
  const statements = [`CREATE SCHEMA IF NOT EXISTS ${names.schema}`, ...tables(names), checks, ...rest(names)];
  return `${statements.join(";\n\n")};\n`;
}

/**
 * One statement that creates what is missing. Of many at once one does it, under a lock that ends with the statement's
 * own transaction, so it holds behind poolers too; the others then find that nothing is missing.
 *
 * Where transactions are serializable by default, queries see the catalog as it was before the wait for the lock, and only
 * the `to_reg` functions see it as it is. Whoever cannot see what was made meanwhile has to ask again.
 */
export function migrationStatement(schema: string): string {
  const names = namesIn(schema);
  const body = `
BEGIN
  PERFORM pg_advisory_xact_lock(${lockNumber(schema)});
  -- A server's process hears of what others made meanwhile when it opens a table, and of nothing while it waits.
  PERFORM FROM pg_class LIMIT 0;
  IF to_regclass(${quotedText(names.layout)}) IS NOT NULL THEN
    IF NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = to_regclass(${quotedText(names.layout)})) THEN
      RAISE EXCEPTION USING ERRCODE = 'serialization_failure', MESSAGE = 'the tables were made meanwhile';
    END IF;
    IF EXISTS (SELECT FROM ${names.layout} AS l WHERE l.version >= ${LAYOUT}) THEN
      RETURN;
    END IF;
  END IF;
  -- Asked first, because IF NOT EXISTS needs the right to create also where nothing is created.
  IF to_regnamespace(${quotedText(names.schema)}) IS NULL THEN
    CREATE SCHEMA ${names.schema};
  END IF;
${script(tables(names))}${shapeChecks(names)}${script(rest(names))}END`;
  return `DO ${dollarQuoted(body)}`;
}

function script(statements: readonly string[]): string {
  return statements.map((statement) => `${statement};\n`).join("");
}

/** What comes after the tables; the layout's number is last, so where it stands everything does. */
function rest(names: Names): string[] {
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

/** The value comes last: what the end of a row has in common with its last version is not logged again. */
function tables(names: Names): string[] {
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
