import { hash } from "node:crypto";
import { LAYOUT } from "./names.ts";
import { dollarQuoted, quotedText } from "./quoting.ts";
import { creationOf, type Schema } from "./tables.ts";

/** The statements of a store's schema, for teams that apply them with tools of their own, once or again. */
export function schemaScript(schema: Schema): string {
  return `${[`CREATE SCHEMA IF NOT EXISTS ${schema.names.schema}`, ...creationOf(schema)].join(";\n\n")};\n`;
}

/**
 * One statement that creates what is missing. Of many at once one does it, under a lock that ends with the statement's
 * own transaction, so it holds behind poolers too; the others then find that nothing is missing.
 *
 * Where transactions are serializable by default, queries see the catalog as it was before the wait for the lock, and only
 * the `to_reg` functions see it as it is. Whoever cannot see what was made meanwhile has to ask again.
 *
 * @param name The schema's, as the options have it.
 */
export function migrationStatement(name: string, schema: Schema): string {
  const { names } = schema;
  const layout = `to_regclass(${quotedText(names.layout)})`;
  const body = `
BEGIN
  PERFORM pg_advisory_xact_lock(${lockNumber(name)});
  -- A server's process hears of what others made meanwhile when it opens a table, and of nothing while it waits.
  PERFORM FROM pg_class LIMIT 0;
  IF ${layout} IS NOT NULL THEN
    IF NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = ${layout}) THEN
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
${creationOf(schema).join(";\n")};
END`;
  return `DO ${dollarQuoted(body)}`;
}

/**
 * A number that stands for a schema among the advisory locks of a database. The history and the state store have the same
 * one: of two that start on an empty database at once, only one may make the schema.
 */
export function lockNumber(name: string): string {
  return hash("sha256", `agentfw history ${name}`, "buffer").readBigInt64BE().toString();
}
