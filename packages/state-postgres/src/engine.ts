import type { StateItem, StateKey } from "@agentfw/core";
import type { Answer } from "./calls.ts";
import { Database } from "./database.ts";
import type { CallLimits } from "./engine-loader.ts";
import { pageOf } from "./listing.ts";
import type { ResolvedConnection, Settings } from "./options.ts";
import { itemOf } from "./reading.ts";
import type { RemovedItems } from "./removing.ts";
import type { Template } from "./statements.ts";
import { assertStored, deletedOf, removedOf } from "./write-replies.ts";

/** An item to be written. */
export interface ItemWrite {
  readonly operation: "create" | "set";
  readonly match: string | null;
  readonly values: unknown[];
}

/**
 * All that a store does with the database and its answers, loaded on demand and as one part: once it is there, nothing is
 * left to load. `values` are a statement's parameters in their order, checked; `match` is the etag to match among them.
 */
export class Engine {
  readonly #database: Database;

  constructor(resolved: ResolvedConnection, settings: Settings) {
    this.#database = new Database(resolved, settings);
  }

  put({ operation, match, values }: ItemWrite, limits: CallLimits): Promise<void> {
    const template = this.#database.statements.put;
    const read = (answer: Answer) => assertStored(operation, answer);
    const mayRepeat = isExact(match);
    return this.#database.run({ name: operation, kind: "write", mayRepeat, template, values, limits, read });
  }

  get(key: string, values: unknown[], limits: CallLimits): Promise<StateItem | undefined> {
    const template = this.#database.statements.get;
    const read = ({ rows }: Answer) => itemOf(key, rows);
    return this.#database.run({ name: "get", kind: "read", mayRepeat: true, template, values, limits, read });
  }

  delete(match: string | null, values: unknown[], limits: CallLimits): Promise<boolean> {
    const template = this.#database.statements.remove;
    const read = (answer: Answer) => deletedOf(match !== null, answer);
    const mayRepeat = isExact(match);
    return this.#database.run({ name: "delete", kind: "write", mayRepeat, template, values, limits, read });
  }

  listKeys(limit: number, values: unknown[], limits: CallLimits): Promise<{ keys: StateKey[]; cursor?: string }> {
    const template = this.#database.statements.list;
    const read = ({ rows }: Answer) => pageOf(rows, limit);
    return this.#database.run({ name: "listKeys", kind: "read", mayRepeat: true, template, values, limits, read });
  }

  /** Deletes one batch. */
  erase(values: unknown[], limits: CallLimits): Promise<RemovedItems> {
    return this.#removeBatch("erase", this.#database.statements.erase, values, limits);
  }

  /** Deletes one batch. */
  deleteExpired(values: unknown[], limits: CallLimits): Promise<RemovedItems> {
    return this.#removeBatch("deleteExpired", this.#database.statements.expire, values, limits);
  }

  verifySchema(signal: AbortSignal | undefined): Promise<void> {
    return this.#database.layout.verify(signal);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #removeBatch(name: string, template: Template, values: unknown[], limits: CallLimits): Promise<RemovedItems> {
    const read = (answer: Answer) => removedOf(name, answer);
    return this.#database.run({ name, kind: "write", mayRepeat: true, template, values, limits, read });
  }
}

/** Without an etag to match, a write that is sent again could undo what somebody did in between. */
function isExact(match: string | null): boolean {
  return match !== null && match !== "*";
}
