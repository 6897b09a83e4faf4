import { assertOptions } from "@agentfw/core/backend";
import { assertPartitions, assertSchemaName, dollarQuoted, LAYOUT, type Names, namesIn } from "./names.ts";
import { readFunction } from "./read-function.ts";
import { shapeChecks } from "./shape.ts";
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
  assertOptions(options, "options", ["schema", "partitions"]);
  const { schema = "agentfw", partitions } = options;
  assertSchemaName(schema);
  assertPartitions(partitions);
  const names = namesIn(schema);
  const checks = `DO ${dollarQuoted(`\nBEGIN\n${shapeChecks(names)}END`)}`;
  const statements = [
    `CREATE SCHEMA IF NOT EXISTS ${names.schema}`,
    ...tables(names, partitions),
    checks,
    ...functionsAndVersion(names),
  ];
  return `${statements.join(";\n\n")};\n`;
}

/** What comes after the tables; the layout's number is last, so where it stands everything does. */
export function functionsAndVersion(names: Names): string[] {
  return [
    readFunction(names),
    appendFunction(names),
    replaceFunction(names),
    ...removeFunctions(names),
    `CREATE TABLE IF NOT EXISTS ${names.layout} (
  version integer PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
)`,
    `INSERT INTO ${names.layout} (version) VALUES (${LAYOUT}) ON CONFLICT (version) DO NOTHING`,
  ];
}

/** The tables and their indexes. */
export function tables(names: Names, partitions: number | undefined): string[] {
  return [
    ...table(names.conversation, partitions, CONVERSATION_STORAGE, [
      "k uuid PRIMARY KEY",
      "owner_key uuid NOT NULL",
      "owner text",
      "source text NOT NULL",
      "session text NOT NULL",
      "seq bigint NOT NULL",
      "updated_at timestamptz NOT NULL",
      "expires_at timestamptz",
      "expires_hour integer",
    ]),
    `CREATE INDEX IF NOT EXISTS history_conversation_owner ON ${names.conversation} (owner_key, k)`,
    `CREATE INDEX IF NOT EXISTS history_conversation_expiry ON ${names.conversation} (expires_hour)
WHERE expires_hour IS NOT NULL`,
    ...table(names.record, partitions, RECORD_STORAGE, [
      "k uuid NOT NULL",
      "seq bigint NOT NULL",
      // Compared byte by byte, whatever the database's own rules for text are.
      'id text COLLATE "C" NOT NULL',
      "data text NOT NULL",
      "stamp bigint",
      "PRIMARY KEY (k, seq)",
      "UNIQUE (k, id)",
    ]),
  ];
}

/** A table, and its partitions where there are some: those carry the settings then. */
function table(name: string, partitions: number | undefined, storage: string, columns: readonly string[]): string[] {
  const create = `CREATE TABLE IF NOT EXISTS ${name} (\n  ${columns.join(",\n  ")}\n)`;
  if (partitions === undefined) {
    return [`${create} WITH (${storage})`];
  }
  const part = (index: number) => `${name}_${index}`;
  return [
    `${create} PARTITION BY HASH (k)`,
    ...Array.from(
      { length: partitions },
      (_, index) => `CREATE TABLE IF NOT EXISTS ${part(index)} PARTITION OF ${name}
FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${index}) WITH (${storage})`,
    ),
  ];
}
