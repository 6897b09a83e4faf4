import { hash } from "node:crypto";
import { dollarQuoted, LAYOUT, namesIn, quotedText } from "./names.ts";
import type { Settings } from "./options.ts";
import { functionsAndVersion, tables } from "./schema.ts";
import { shapeChecks } from "./shape.ts";

/**
 * One statement that creates what is missing. Of many at once one does it, under a lock that ends with the statement's
 * own transaction, so it holds behind poolers too; the others then find that nothing is missing.
 *
 * Where transactions are serializable by default, queries see the catalog as it was before the wait for the lock, and only
 * the `to_reg` functions see it as it is. Whoever cannot see what was made meanwhile has to ask again.
 */
export function migrationStatement({ schema }: Pick<Settings, "schema">): string {
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
${script(tables(names))}${shapeChecks(names)}${script(functionsAndVersion(names))}END`;
  return `DO ${dollarQuoted(body)}`;
}

function script(statements: readonly string[]): string {
  return statements.map((statement) => `${statement};\n`).join("");
}

/**
 * A number that stands for a schema among the advisory locks of a database. The history store takes the same one: of two
 * stores that start on an empty database at once, only one may make the schema.
 */
export function lockNumber(schema: string): string {
  return hash("sha256", `agentfw history ${schema}`, "buffer").readBigInt64BE().toString();
}
