import { hash } from "node:crypto";
import type { PostgresStatement } from "./client.ts";
import type { Names } from "./names.ts";

/** A statement without its values. */
export interface Template {
  readonly name?: string;
  readonly text: string;
}

/** The texts that a store sends, made once, with names where they are to be kept by the server. */
export class Statements {
  readonly read: Template;
  readonly append: Template;
  readonly replace: Template;
  readonly remove: Template;
  readonly erase: Template;
  readonly deleteExpired: Template;
  readonly #isPrepared: boolean;

  constructor(names: Names, isPrepared: boolean) {
    this.#isPrepared = isPrepared;
    // As a table where there are rows, as a value where there is one: each is the quicker one of the two.
    this.read = this.#template(`SELECT * FROM ${call(names.read, 4)} AS answer`);
    const value = (name: string, parameters: number, lists: readonly number[] = []) =>
      this.#template(`SELECT ${call(name, parameters, lists)} AS answer`);
    this.append = value(names.append, 10, [6, 7]);
    this.replace = value(names.replace, 7, [4, 5]);
    this.remove = value(names.remove, 1);
    this.erase = value(names.erase, 2);
    this.deleteExpired = value(names.expire, 1);
  }

  /** A name stands for its text and no other, whoever shares the connection. */
  #template(text: string): Template {
    const name = `agentfw_history_${hash("sha256", text, "hex").slice(0, 24)}`;
    return this.#isPrepared ? { name, text } : { text };
  }
}

/**
 * @param lists Which parameters are lists of lines. A driver writes an array as a text with quotes and backslashes escaped,
 * and JSON has so many of them that the largest calls would take more memory than a process has.
 */
function call(name: string, parameters: number, lists: readonly number[] = []): string {
  const given = Array.from({ length: parameters }, (_, index) => index + 1).map((number) =>
    lists.includes(number) ? `string_to_array($${number}, E'\\n')` : `$${number}`,
  );
  return `${name}(${given.join(", ")})`;
}

/** A statement with its values. */
export function withValues(template: Template, values: unknown[]): PostgresStatement {
  const { name, text } = template;
  // Not spread: this is made for every call.
  return name === undefined ? { text, values, rowMode: "array" } : { name, text, values, rowMode: "array" };
}
