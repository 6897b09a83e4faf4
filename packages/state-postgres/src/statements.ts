import { hash } from "node:crypto";
import type { Names } from "./names.ts";

/** A statement without its values. */
export interface Template {
  readonly name?: string;
  readonly text: string;
}

/** The calls that are a statement of fixed text. */
export type FixedCall = "get" | "listKeys" | "put" | "delete" | "erase" | "deleteExpired";

/**
 * The statements that a store sends, made once.
 *
 * @param isPrepared Whether they have names, under which the server keeps their plans.
 */
export function statementsOn(names: Names, isPrepared: boolean): Readonly<Record<FixedCall, Template>> {
  // A name stands for its text and no other, whoever shares the connection.
  const template = (text: string): Template =>
    isPrepared ? { name: `agentfw_state_${hash("sha256", text, "hex").slice(0, 24)}`, text } : { text };
  return {
    get: template(
      `SELECT i.etag, i.tags, i.value FROM ${names.item} AS i WHERE i.k = $1 AND (i.expires_at IS NULL OR i.expires_at > now())`,
    ),
    listKeys: template(`SELECT * FROM ${names.list}($1, $2, $3, $4, $5) AS answer`),
    put: template(`SELECT ${names.put}($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) AS answer`),
    delete: template(`SELECT ${names.remove}($1, $2) AS answer`),
    erase: template(`SELECT ${names.erase}($1, $2) AS answer`),
    deleteExpired: template(`SELECT ${names.expire}($1) AS answer`),
  };
}
