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
  readonly get: Template;
  readonly put: Template;
  readonly list: Template;
  readonly remove: Template;
  readonly erase: Template;
  readonly deleteExpired: Template;
  readonly #isPrepared: boolean;

  constructor(names: Names, isPrepared: boolean) {
    this.#isPrepared = isPrepared;
    const alive = "(i.expires_at IS NULL OR i.expires_at > now())";
    this.get = this.#template(`SELECT i.etag, i.tags, i.value FROM ${names.item} AS i WHERE i.k = $1 AND ${alive}`);
    this.list = this.#template(`SELECT * FROM ${call(names.list, 5)} AS answer`);
    const value = (name: string, parameters: number) => this.#template(`SELECT ${call(name, parameters)} AS answer`);
    this.put = value(names.put, 11);
    this.remove = value(names.remove, 2);
    this.erase = value(names.erase, 2);
    this.deleteExpired = value(names.expire, 1);
  }

  /** A name stands for its text and no other, whoever shares the connection. */
  #template(text: string): Template {
    const name = `agentfw_state_${hash("sha256", text, "hex").slice(0, 24)}`;
    return this.#isPrepared ? { name, text } : { text };
  }
}

function call(name: string, parameters: number): string {
  return `${name}(${Array.from({ length: parameters }, (_, index) => `$${index + 1}`).join(", ")})`;
}

/** A statement with its values. */
export function withValues(template: Template, values: unknown[]): PostgresStatement {
  const { name, text } = template;
  // Not spread: this is made for every call.
  return name === undefined ? { text, values, rowMode: "array" } : { name, text, values, rowMode: "array" };
}
