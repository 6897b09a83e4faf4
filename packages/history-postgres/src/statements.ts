import { createHash } from "node:crypto";
import type { ReadOptions } from "@agentfw/core";
import type { PostgresStatement } from "./client.ts";
import type { Names } from "./names.ts";
import { readStatement } from "./reading.ts";

/** A statement without its values. */
export interface Template {
  readonly name?: string;
  readonly text: string;
}

/** So many statements are kept by name; each costs memory in every connection of the server. */
const MOST_NAMES = 64;

/** The texts that a store sends, made once, with names where they are to be kept by the server. */
export class Statements {
  readonly append: Template;
  readonly replace: Template;
  readonly remove: Template;
  readonly erase: Template;
  readonly expire: Template;
  readonly #names: Names;
  readonly #isPrepared: boolean;
  readonly #reads = new Map<string, Template>();

  constructor(names: Names, isPrepared: boolean) {
    this.#names = names;
    this.#isPrepared = isPrepared;
    const call = (name: string, values: number) => {
      const list = Array.from({ length: values }, (_, index) => `$${index + 1}`);
      return this.#template(`SELECT ${name}(${list.join(", ")}) AS answer`);
    };
    this.append = call(names.append, 10);
    this.replace = call(names.replace, 7);
    this.remove = call(names.remove, 1);
    this.erase = call(names.erase, 2);
    this.expire = call(names.expire, 1);
  }

  /** The statement of a page. The newest limits are not kept by name once there are many of them. */
  read(options: ReadOptions): Template {
    const { last, before, withFirst } = options;
    const key = `${last} ${before !== undefined} ${withFirst === true}`;
    const known = this.#reads.get(key);
    if (known !== undefined) {
      return known;
    }
    const text = readStatement(this.#names, options);
    if (this.#reads.size >= MOST_NAMES) {
      return { text };
    }
    const template = this.#template(text);
    this.#reads.set(key, template);
    return template;
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
