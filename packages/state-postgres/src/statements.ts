import { hash } from "node:crypto";
import type { PostgresStatement } from "./client.ts";
import type { Names } from "./names.ts";

/** The calls that are a statement of fixed text. */
export type FixedCall = "get" | "listKeys" | "put" | "delete" | "erase" | "deleteExpired";

/** Make a statement of the values of its parameters, in their order, checked. */
export type Statements = Readonly<Record<FixedCall, (values: unknown[]) => PostgresStatement>>;

/**
 * The statements that a store sends, made once.
 *
 * @param isPrepared Whether they have names, under which the server keeps their plans.
 */
export function statementsOn(names: Names, isPrepared: boolean): Statements {
  // A name stands for its text and no other, whoever shares the connection.
  const made = (text: string) => {
    const name = `agentfw_state_${hash("sha256", text, "hex").slice(0, 24)}`;
    // Not spread: this is made for every call.
    return (values: unknown[]): PostgresStatement =>
      isPrepared ? { name, text, values, rowMode: "array" } : { text, values, rowMode: "array" };
  };
  return {
    get: made(
      `SELECT i.etag, i.tags, i.value FROM ${names.item} AS i WHERE i.k = $1 AND (i.expires_at IS NULL OR i.expires_at > now())`,
    ),
    listKeys: made(`SELECT * FROM ${names.list}($1, $2, $3, $4, $5) AS answer`),
    put: made(`SELECT ${names.put}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS answer`),
    delete: made(`SELECT ${names.remove}($1, $2) AS answer`),
    erase: made(`SELECT ${names.erase}($1, $2) AS answer`),
    deleteExpired: made(`SELECT ${names.expire}($1) AS answer`),
  };
}
