import { type Names, quotedText } from "./names.ts";

/** A table of the store: its columns in their order, as the server prints them, what must be unique, and what indexed. */
export interface Shape {
  readonly columns: string;
  readonly keys: readonly string[];
  readonly indexes: readonly string[];
}

const CONVERSATION: Shape = {
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
  ].join(", "),
  keys: ["k"],
  indexes: ["owner_key,k", "expires_hour"],
};

const RECORD: Shape = {
  columns: "k uuid not null, seq bigint not null, id text not null, data text not null, stamp bigint",
  keys: ["k,seq", "k,id"],
  indexes: [],
};

/** Statements inside of a migration that end it when a table was there already and is another one. */
export function shapeChecks(names: Names): string {
  return shapes(names)
    .map(([table, { columns }]) => {
      const message = quotedText(`${table} has other columns than the history store's`);
      return `  IF ${columnsOf(table)} <> ${quotedText(columns)} THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_table_definition', MESSAGE = ${message};
  END IF;
`;
    })
    .join("");
}

/** The tables by their names. */
export function shapes(names: Names): [string, Shape][] {
  return [
    [names.conversation, CONVERSATION],
    [names.record, RECORD],
  ];
}

/** Asks for a table's columns, as its {@link Shape} has them. */
export function columnsOf(table: string): string {
  return `coalesce((SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) ||
    CASE WHEN a.attnotnull THEN ' not null' ELSE '' END, ', ' ORDER BY a.attnum)
    FROM pg_attribute AS a WHERE a.attrelid = to_regclass(${quotedText(table)}) AND a.attnum > 0 AND NOT a.attisdropped), '')`;
}
