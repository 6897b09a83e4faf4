import { hash } from "node:crypto";
import type { PostgresStatement } from "./client.ts";
import type { Names } from "./names.ts";

/** The calls that are a statement of fixed text. */
export type FixedCall = "read" | "append" | "replace" | "clear" | "erase" | "deleteExpired";

/** Make a statement of the values of its parameters, in their order, checked. */
export type Statements = Readonly<Record<FixedCall, (values: unknown[]) => PostgresStatement>>;

/**
 * The statements that a store sends, made once. The function's answer is a table where there are rows, and a value where
 * there is one: each is the quicker one of the two.
 *
 * @param isPrepared Whether they have names, under which the server keeps their plans.
 */
export function statementsOn(names: Names, isPrepared: boolean): Statements {
  // A name stands for its text and no other, whoever shares the connection.
  const made = (text: string) => {
    const name = `agentfw_history_${hash("sha256", text, "hex").slice(0, 24)}`;
    // Not spread: this is made for every call.
    return (values: unknown[]): PostgresStatement =>
      isPrepared ? { name, text, values, rowMode: "array" } : { text, values, rowMode: "array" };
  };
  return {
    read: made(`SELECT * FROM ${names.read}($1, $2, $3, $4) AS answer`),
    append: made(`SELECT ${names.append}($1, $2, $3, $4, $5, ${lines(6)}, ${lines(7)}, $8, $9, $10) AS answer`),
    replace: made(`SELECT ${names.replace}($1, $2, $3, ${lines(4)}, ${lines(5)}, $6, $7) AS answer`),
    clear: made(`SELECT ${names.remove}($1) AS answer`),
    erase: made(`SELECT ${names.erase}($1, $2) AS answer`),
    deleteExpired: made(`SELECT ${names.expire}($1) AS answer`),
  };
}

/** What is listed, and from where on: the names as they are stored. */
export interface ListTask {
  /** Without it, of all owners. */
  readonly ownerKey: string | undefined;
  readonly source: string | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** One statement for a page, in the order of the conversations' keys, so that what is written meanwhile moves nothing. */
export function listStatement(names: Names, { ownerKey, source, limit, cursor }: ListTask): PostgresStatement {
  const values: unknown[] = [];
  const given = (value: unknown) => `$${values.push(value)}`;
  const conditions = ["(c.expires_at IS NULL OR c.expires_at > now())"];
  if (ownerKey !== undefined) {
    conditions.push(`c.owner_key = ${given(ownerKey)}::uuid`);
  }
  if (source !== undefined) {
    conditions.push(`c.source = ${given(source)}`);
  }
  if (cursor !== undefined) {
    conditions.push(`c.k > ${given(cursor)}::uuid`);
  }
  const text = `SELECT c.k::text AS k, c.owner, c.source, c.session,
floor(extract(epoch FROM c.updated_at) * 1000)::bigint::text AS updated FROM ${names.conversation} AS c
WHERE ${conditions.join(" AND ")} ORDER BY c.k LIMIT ${given(limit + 1)}::bigint`;
  return { text, values, rowMode: "array" };
}

/**
 * A parameter that is a list of lines. A driver writes an array as a text with quotes and backslashes escaped, and JSON has so
 * many of them that the largest calls would take more memory than a process has.
 */
function lines(parameter: number): string {
  return `string_to_array($${parameter}, E'\\n')`;
}
