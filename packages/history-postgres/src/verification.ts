import { functionNames, type Names, quotedText } from "./names.ts";
import { columnsOf, shapes } from "./shape.ts";

/** What the user of the store needs. */
const PRIVILEGES: readonly string[] = ["SELECT", "INSERT", "UPDATE", "DELETE"];

/** Asks for one row about the tables and functions; {@link schemaProblem} reads it. */
export function verificationStatement(names: Names): string {
  const tables = shapes(names).map(([table]) => table);
  const expressions = [
    ...tables.map(columnsOf),
    ...tables.map((table) => indexesOf(table, "AND i.indisunique AND i.indpred IS NULL")),
    ...tables.map(privilegesOf),
    ...tables.map((table) => indexesOf(table)),
    executableFunctions(names),
  ];
  // Each under a name of its own, because some drivers give rows as objects.
  return `SELECT ${expressions.map((expression, index) => `${expression} AS answer${index}`).join(",\n  ")}`;
}

/** What is wrong with the tables, as the end of a sentence; undefined when nothing is. */
export function schemaProblem(
  row: readonly unknown[],
  names: Names,
): { code: "configuration" | "unauthorized"; text: string } | undefined {
  const text = (index: number) => String(row[index] ?? "");
  const lackingIn = (index: number, wanted: readonly string[]) => {
    const present = text(index).split(" ");
    return wanted.find((one) => !present.includes(one));
  };
  for (const [index, [table, { columns, keys, indexes }]] of shapes(names).entries()) {
    if (text(index) !== columns) {
      return { code: "configuration", text: `${table} must have the columns ${columns}` };
    }
    const key = lackingIn(2 + index, keys);
    if (key !== undefined) {
      return { code: "configuration", text: `${table} must have a unique index on (${key})` };
    }
    const unindexed = lackingIn(6 + index, indexes);
    if (unindexed !== undefined) {
      return { code: "configuration", text: `${table} must have an index on (${unindexed})` };
    }
    if (text(4 + index) !== PRIVILEGES.join(" ")) {
      return { code: "unauthorized", text: `the user must be allowed ${PRIVILEGES.join(", ")} on ${table}` };
    }
  }
  const lacking = lackingIn(8, functionNames(names).map(lastPart));
  return lacking === undefined
    ? undefined
    : {
        code: "configuration",
        text: `the function ${names.schema}.${lacking} is missing, or the user may not execute it`,
      };
}

function lastPart(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** The columns of each index that is in use, and of which more holds. */
function indexesOf(table: string, condition = ""): string {
  return `(SELECT string_agg((SELECT string_agg(a.attname, ',' ORDER BY o.ord)
    FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS o(attnum, ord)
    JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = o.attnum), ' ')
    FROM pg_index AS i WHERE i.indrelid = to_regclass(${quotedText(table)}) AND i.indisvalid ${condition})`;
}

function privilegesOf(table: string): string {
  const list = `ARRAY[${PRIVILEGES.map(quotedText).join(", ")}]`;
  return `(SELECT string_agg(p.name, ' ' ORDER BY p.ord) FROM unnest(${list}) WITH ORDINALITY AS p(name, ord)
    WHERE has_table_privilege(to_regclass(${quotedText(table)}), p.name))`;
}

function executableFunctions(names: Names): string {
  return `(SELECT string_agg(p.proname, ' ') FROM pg_proc AS p
    WHERE p.pronamespace = to_regnamespace(${quotedText(names.schema)}) AND has_function_privilege(p.oid, 'EXECUTE'))`;
}
