import { quotedText } from "./quoting.ts";

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

/** The beginning of the statement that creates a table: its name, columns and keys. */
export function tableDefinition({ name, columns, keys: [primary, ...unique] }: Table): string {
  const parts = [...columns, `PRIMARY KEY (${primary})`, ...unique.map((key) => `UNIQUE (${key})`)];
  return `CREATE TABLE IF NOT EXISTS ${name} (\n  ${parts.join(",\n  ")}\n)`;
}

/** Expressions that are NULL where a table is as it should be, else a sentence that says what it must have. */
export function tableProblems({ name, columns, keys, indexes }: Table): string[] {
  const wanted = columns.join(", ").replace(/( [A-Z"]+)+/g, "");
  const present = `(SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) ||
    CASE WHEN a.attnotnull THEN ' not null' ELSE '' END, ', ' ORDER BY a.attnum)
    FROM pg_attribute AS a WHERE a.attrelid = to_regclass(${quotedText(name)}) AND a.attnum > 0 AND NOT a.attisdropped)`;
  const inUse = "i.indisvalid";
  const isUnique = "i.indisvalid AND i.indisunique AND i.indpred IS NULL";
  return [
    firstWithout(`${name} must have the columns `, [wanted], `w IS NOT DISTINCT FROM ${present}`),
    firstWithout(`${name} must have a unique index on `, keys, isIndexed(name, isUnique)),
    firstWithout(`${name} must have an index on `, indexes, isIndexed(name, inUse)),
  ];
}

/** An expression that is a sentence with the first of `wanted` for which the condition on `w` does not hold, else NULL. */
export function firstWithout(sentence: string, wanted: readonly string[], condition: string): string {
  const list = `ARRAY[${wanted.map(quotedText).join(", ")}]::text[]`;
  return `(SELECT ${quotedText(sentence)} || w FROM unnest(${list}) AS w WHERE NOT ${condition} LIMIT 1)`;
}

/** True, in SQL, where the columns `w` have an index of which the condition on `i` holds. */
function isIndexed(table: string, condition: string): string {
  return `EXISTS (SELECT FROM pg_index AS i WHERE i.indrelid = to_regclass(${quotedText(table)}) AND ${condition} AND w =
    (SELECT string_agg(pg_get_indexdef(i.indexrelid, n, false), ',' ORDER BY n) FROM generate_series(1, i.indnkeyatts) AS n))`;
}
