import { hash } from "node:crypto";
import type { Names } from "./names.ts";

/** A statement without its values. */
export interface Template {
  readonly name?: string;
  readonly text: string;
}

/** The calls that are a statement of fixed text. */
export type FixedCall = "read" | "append" | "replace" | "clear" | "erase" | "deleteExpired";

/**
 * The statements that a store sends, made once. The function's answer is a table where there are rows, and a value where
 * there is one: each is the quicker one of the two.
 *
 * @param isPrepared Whether they have names, under which the server keeps their plans.
 */
export function statementsOn(names: Names, isPrepared: boolean): Readonly<Record<FixedCall, Template>> {
  // A name stands for its text and no other, whoever shares the connection.
  const template = (text: string): Template =>
    isPrepared ? { name: `agentfw_history_${hash("sha256", text, "hex").slice(0, 24)}`, text } : { text };
  return {
    read: template(`SELECT * FROM ${names.read}($1, $2, $3, $4) AS answer`),
    append: template(`SELECT ${names.append}($1, $2, $3, $4, $5, ${lines(6)}, ${lines(7)}, $8, $9, $10) AS answer`),
    replace: template(`SELECT ${names.replace}($1, $2, $3, ${lines(4)}, ${lines(5)}, $6, $7) AS answer`),
    clear: template(`SELECT ${names.remove}($1) AS answer`),
    erase: template(`SELECT ${names.erase}($1, $2) AS answer`),
    deleteExpired: template(`SELECT ${names.expire}($1) AS answer`),
  };
}

/**
 * A parameter that is a list of lines. A driver writes an array as a text with quotes and backslashes escaped, and JSON has so
 * many of them that the largest calls would take more memory than a process has.
 */
function lines(parameter: number): string {
  return `string_to_array($${parameter}, E'\\n')`;
}
