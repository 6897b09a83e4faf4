import type { StateItem, StateKey } from "@agentfw/core";
import type { CallLimits } from "@agentfw/core/backend";
import { type Answer, type Call, type Connection, connectionOf } from "./connection.ts";
import { Layout } from "./layout.ts";
import { pageOf } from "./listing.ts";
import type { ResolvedConnection, Settings } from "./options.ts";
import { itemOf } from "./reading.ts";
import type { RemovedItems } from "./removing.ts";
import { type FixedCall, statementsOn, type Template } from "./statements.ts";
import type { StoreSchema } from "./store-schema.ts";
import { assertStored, deletedOf, removedOf } from "./write-replies.ts";

/** An item to be written. */
export interface ItemWrite {
  readonly operation: "create" | "set";
  readonly match: string | null;
  readonly values: unknown[];
}

/** Loads what the engine needs besides. Connects at the first call. */
export async function openEngine(
  resolved: ResolvedConnection,
  settings: Settings,
  schema: StoreSchema,
): Promise<Engine> {
  return new Engine(await connectionOf(resolved, settings.timeoutMs), settings, schema);
}

/**
 * All that a store does with the database and its answers, loaded on demand and as one part: once it is there, nothing is
 * left to load. `values` are a statement's parameters in their order, checked; `match` is the etag to match among them.
 */
export class Engine {
  readonly #statements: Readonly<Record<FixedCall, Template>>;
  readonly #connection: Connection;
  readonly #layout: Layout;

  constructor(connection: Connection, settings: Settings, schema: StoreSchema) {
    this.#statements = statementsOn(schema.names, settings.prepare);
    this.#connection = connection;
    this.#layout = new Layout(connection, schema, settings);
  }

  async put({ operation, match, values }: ItemWrite, limits: CallLimits): Promise<void> {
    const call = { name: operation, kind: "write", mayRepeat: isExact(match), limits } as const;
    assertStored(operation, await this.#run("put", values, call));
  }

  async get(key: string, values: unknown[], limits: CallLimits): Promise<StateItem | undefined> {
    const { reply } = await this.#run("get", values, { name: "get", kind: "read", mayRepeat: true, limits });
    return itemOf(key, reply);
  }

  async delete(match: string | null, values: unknown[], limits: CallLimits): Promise<boolean> {
    const call = { name: "delete", kind: "write", mayRepeat: isExact(match), limits } as const;
    return deletedOf(match !== null, await this.#run("delete", values, call));
  }

  async listKeys(limit: number, values: unknown[], limits: CallLimits): Promise<{ keys: StateKey[]; cursor?: string }> {
    const { reply } = await this.#run("listKeys", values, { name: "listKeys", kind: "read", mayRepeat: true, limits });
    return pageOf(reply, limit);
  }

  /** Deletes one batch. */
  async removeBatch(name: "erase" | "deleteExpired", values: unknown[], limits: CallLimits): Promise<RemovedItems> {
    return removedOf(name, await this.#run(name, values, { name, kind: "write", mayRepeat: true, limits }));
  }

  verifySchema(signal: AbortSignal | undefined): Promise<void> {
    return this.#layout.verify(signal);
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  #run(fixed: FixedCall, values: unknown[], call: Omit<Call, "request">): Promise<Answer> {
    return this.#layout.run({ ...call, request: { ...this.#statements[fixed], values, rowMode: "array" } });
  }
}

/** Without an etag to match, a write that is sent again could undo what somebody did in between. */
function isExact(match: string | null): boolean {
  return match !== null && match !== "*";
}
