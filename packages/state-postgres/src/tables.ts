import { LAYOUT, type Names } from "./names.ts";
import { dollarQuoted, quotedText } from "./quoting.ts";

/** A table of a store. */
export interface Table {
  /** With its schema, quoted. */
  readonly name: string;
  /** In their order, as the server prints them; what is in capitals it prints elsewhere. */
  readonly columns: readonly string[];
  /** What is unique: lists of columns, of which the first is the primary key. */
  readonly keys: readonly string[];
  /** What is indexed besides: lists of columns. */
  readonly indexes: readonly string[];
}

/** All that a store has in its schema of the database. */
export interface Schema {
  readonly names: Names;
  readonly tables: readonly Table[];
  /** Create the tables, as far as they are missing, and their indexes. */
  readonly creation: readonly string[];
  /** Create the functions, or change them into these. */
  readonly functions: readonly string[];
}

/** The beginning of the statement that creates a table: its name, columns and keys. */
export function tableDefinition({ name, columns, keys: [primary, ...unique] }: Table): string {
  const parts = [...columns, `PRIMARY KEY (${primary})`, ...unique.map((key) => `UNIQUE (${key})`)];
  return `CREATE TABLE IF NOT EXISTS ${name} (\n  ${parts.join(",\n  ")}\n)`;
}

/** True, in SQL, when the table is not there or has other columns. */
export function hasOtherColumns({ name, columns }: Table): string {
  return `coalesce((SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) ||
    CASE WHEN a.attnotnull THEN ' not null' ELSE '' END, ', ' ORDER BY a.attnum)
    FROM pg_attribute AS a WHERE a.attrelid = to_regclass(${quotedText(name)}) AND a.attnum > 0 AND NOT a.attisdropped), '')
    <> ${quotedText(printed(columns))}`;
}

/** Columns as the server prints them. */
export function printed(columns: readonly string[]): string {
  return columns.join(", ").replace(/( [A-Z"]+)+/g, "");
}

/**
 * The statements that make all of it, in their order. They end with an error where a table was there already and is another
 * one; the layout's number is last, so where it stands everything does.
 */
export function creationOf({ names, tables, creation, functions }: Schema): string[] {
  const checks = tables.map((table) => {
    const message = quotedText(`${table.name} has other columns than the store's`);
    return `  IF ${hasOtherColumns(table)} THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_table_definition', MESSAGE = ${message};
  END IF;
`;
  });
  return [
    ...creation,
    `DO ${dollarQuoted(`\nBEGIN\n${checks.join("")}END`)}`,
    ...functions,
    `CREATE TABLE IF NOT EXISTS ${names.layout} (
  version integer PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
)`,
    `INSERT INTO ${names.layout} (version) VALUES (${LAYOUT}) ON CONFLICT (version) DO NOTHING`,
  ];
}
