import { functionNames } from "./names.ts";
import { quotedText } from "./quoting.ts";
import { hasOtherColumns, printed, type Schema } from "./tables.ts";

/** What the user of the store needs. */
const PRIVILEGES: readonly string[] = ["SELECT", "INSERT", "UPDATE", "DELETE"];

/**
 * Asks for one row: what is wrong with the tables and functions, and what the user of the store lacks, each as a sentence,
 * and NULL where nothing is.
 */
export function verificationStatement({ names, tables }: Schema): string {
  const problems = tables.flatMap((table) => {
    const { name, columns, keys, indexes } = table;
    const sentence = quotedText(`${name} must have the columns ${printed(columns)}`);
    return [
      `CASE WHEN ${hasOtherColumns(table)} THEN ${sentence} END`,
      firstMissing(
        `${name} must have a unique index on `,
        keys,
        indexesOf(name, "AND i.indisunique AND i.indpred IS NULL"),
      ),
      firstMissing(`${name} must have an index on `, indexes, indexesOf(name)),
    ];
  });
  const executable = `SELECT ${quotedText(`${names.schema}.`)} || p.proname FROM pg_proc AS p
    WHERE p.pronamespace = to_regnamespace(${quotedText(names.schema)}) AND has_function_privilege(p.oid, 'EXECUTE')`;
  problems.push(firstMissing("the user must be able to execute the function ", functionNames(names), executable));
  const refusals = tables.map(({ name }) => {
    const granted = `SELECT o.p FROM unnest(${listOf(PRIVILEGES)}) AS o(p) WHERE has_table_privilege(to_regclass(${quotedText(name)}), o.p)`;
    return firstMissing(`the user must be allowed on ${name}: `, PRIVILEGES, granted);
  });
  return `SELECT coalesce(${problems.join(",\n  ")}) AS problem, coalesce(${refusals.join(",\n  ")}) AS refusal`;
}

/** The sentence with the first of what is wanted that the query does not give. */
function firstMissing(sentence: string, wanted: readonly string[], query: string): string {
  return `(SELECT ${quotedText(sentence)} || w FROM unnest(${listOf(wanted)}) AS w WHERE w NOT IN (${query}) LIMIT 1)`;
}

function listOf(texts: readonly string[]): string {
  return `ARRAY[${texts.map(quotedText).join(", ")}]::text[]`;
}

/** The columns of each index that is in use, and of which more holds. */
function indexesOf(table: string, condition = ""): string {
  return `SELECT (SELECT string_agg(pg_get_indexdef(i.indexrelid, n, false), ',' ORDER BY n) FROM generate_series(1, i.indnkeyatts) AS n)
    FROM pg_index AS i WHERE i.indrelid = to_regclass(${quotedText(table)}) AND i.indisvalid ${condition}`;
}
