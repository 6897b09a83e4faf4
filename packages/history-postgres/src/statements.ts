import { createHash } from "node:crypto";
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
  readonly expire: Template;
  readonly #isPrepared: boolean;

  constructor(names: Names, isPrepared: boolean) {
    this.#isPrepared = isPrepared;
    const call = (name: string, values: number) => {
      const list = Array.from({ length: values }, (_, index) => `$${index + 1}`);
      return this.#template(`SELECT * FROM ${name}(${list.join(", ")}) AS answer`);
    };
    this.read = call(names.read, 4);
    this.append = call(names.append, 10);
    this.replace = call(names.replace, 7);
    this.remove = call(names.remove, 1);
    this.erase = call(names.erase, 2);
    this.expire = call(names.expire, 1);
  }

  /** A name stands for its text and no other, whoever shares the connection. */
  #template(text: string): Template {
    const hash = createHash("sha256").update(text).digest("hex").slice(0, 24);
    return this.#isPrepared ? { name: `agentfw_history_${hash}`, text } : { text };
  }
}

/** A statement with its values. */
export function withValues(template: Template, values: unknown[]): PostgresStatement {
  return { ...template, values, rowMode: "array" };
}
