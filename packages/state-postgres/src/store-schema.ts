import { hash } from "node:crypto";
import { functionNames, LAYOUT, type Names } from "./names.ts";
import { dollarQuoted, quotedText } from "./quoting.ts";
import { firstWithout, type Table, tableProblems } from "./tables.ts";

/** What the user of the store needs. */
const PRIVILEGES: readonly string[] = ["SELECT", "INSERT", "UPDATE", "DELETE"];

/** What a store has in a schema of the database. */
export interface SchemaParts {
  /** The schema's name, as the options have it. */
  readonly schema: string;
  readonly names: Names;
  readonly tables: readonly Table[];
  /** Create the tables, as far as they are missing, and their indexes. */
  readonly creation: readonly string[];
  /** Create the functions, or change them into these. */
  readonly functions: readonly string[];
}

/** The statements that make what a store has in a schema, and that ask for it. */
export class StoreSchema {
  readonly names: Names;
  /** The version of the layout that is made. */
  readonly layout: number = LAYOUT;
  /** Asks for one text: the table of versions, NULL where it is not there. */
  readonly findLayout: string;
  /** Asks for one text: the version. */
  readonly readLayout: string;
  readonly #parts: SchemaParts;

  constructor(parts: SchemaParts) {
    const { layout } = parts.names;
    this.#parts = parts;
    this.names = parts.names;
    this.findLayout = `SELECT to_regclass(${quotedText(layout)})::text AS layout`;
    this.readLayout = `SELECT max(version)::text AS version FROM ${layout}`;
  }

  /** All statements, for teams that apply them with tools of their own, once or again. */
  script(): string {
    return `${[`CREATE SCHEMA IF NOT EXISTS ${this.names.schema}`, ...this.#creation()].join(";\n\n")};\n`;
  }

  /**
   * One statement that creates what is missing. Of many at once one does it, under a lock that ends with the statement's
   * own transaction, so it holds behind poolers too; the others then find that nothing is missing. A process of the server
   * hears of what others made meanwhile when it opens a table, and of nothing while it waits for the lock.
   *
   * Where transactions are serializable by default, queries see the catalog as it was before the wait for the lock, and only
   * the `to_reg` functions see it as it is. Whoever cannot see what was made meanwhile has to ask again.
   *
   * Whether the schema is there is asked first, because IF NOT EXISTS needs the right to create also where nothing is created.
   */
  migration(): string {
    const { layout, schema } = this.names;
    const table = `to_regclass(${quotedText(layout)})`;
    return `DO ${dollarQuoted(`
BEGIN
  PERFORM pg_advisory_xact_lock(${lockNumber(this.#parts.schema)});
  PERFORM FROM pg_class LIMIT 0;
  IF ${table} IS NOT NULL THEN
    IF NOT EXISTS (SELECT FROM pg_class AS c WHERE c.oid = ${table}) THEN
      RAISE EXCEPTION USING ERRCODE = 'serialization_failure', MESSAGE = 'the tables were made meanwhile';
    END IF;
    IF EXISTS (SELECT FROM ${layout} AS l WHERE l.version >= ${LAYOUT}) THEN
      RETURN;
    END IF;
  END IF;
  IF to_regnamespace(${quotedText(schema)}) IS NULL THEN
    CREATE SCHEMA ${schema};
  END IF;
${this.#creation().join(";\n")};
END`)}`;
  }

  /**
   * Asks for one row: what is wrong with the tables and functions, and what the user of the store lacks, each as a sentence,
   * and NULL where nothing is.
   */
  verification(): string {
    const { names, tables } = this.#parts;
    const isExecutable = `EXISTS (SELECT FROM pg_proc AS p WHERE p.pronamespace = to_regnamespace(${quotedText(names.schema)})
    AND w = ${quotedText(`${names.schema}.`)} || p.proname AND has_function_privilege(p.oid, 'EXECUTE'))`;
    const problems = [
      ...tables.flatMap(tableProblems),
      firstWithout("the user must be able to execute the function ", functionNames(names), isExecutable),
    ];
    const refusals = tables.map(({ name }) => {
      const isGranted = `has_table_privilege(to_regclass(${quotedText(name)}), w)`;
      return firstWithout(`the user must be allowed on ${name}: `, PRIVILEGES, isGranted);
    });
    return `SELECT coalesce(${problems.join(",\n  ")}) AS problem, coalesce(${refusals.join(",\n  ")}) AS refusal`;
  }

  /**
   * Ends with an error where a table was there already and is another one. The layout's number is last, so where it stands
   * everything does.
   */
  #creation(): string[] {
    const { names, tables, creation, functions } = this.#parts;
    const check = `
DECLARE
  v_problem text := coalesce(${tables.flatMap(tableProblems).join(",\n  ")});
BEGIN
  IF v_problem IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'invalid_table_definition', MESSAGE = v_problem;
  END IF;
END`;
    return [
      ...creation,
      `DO ${dollarQuoted(check)}`,
      ...functions,
      `CREATE TABLE IF NOT EXISTS ${names.layout} (
  version integer PRIMARY KEY,
  applied_at timestamptz NOT NULL DEFAULT now()
)`,
      `INSERT INTO ${names.layout} (version) VALUES (${LAYOUT}) ON CONFLICT (version) DO NOTHING`,
    ];
  }
}

/**
 * A number that stands for a schema among the advisory locks of a database. The history and the state store have the same
 * one: of two that start on an empty database at once, only one may make the schema.
 */
export function lockNumber(schema: string): string {
  return hash("sha256", `agentfw history ${schema}`, "buffer").readBigInt64BE().toString();
}
