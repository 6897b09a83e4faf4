import { assertCallOptions, type CallOptions, type StateStore } from "@agentfw/core";
import { assertOptions } from "@agentfw/core/backend";

const ITEM = ["callId", "signal"];
const PORT = ["owner", "signal"];

/** The methods of a store. */
export type Method =
  | `${"create" | "set" | "get" | "delete"}Item`
  | `${"get" | "update" | "delete"}Store`
  | `${"list" | "iterate"}ItemKeys`
  | keyof Pick<StateStore, "create" | "set" | "get" | "delete" | "listKeys">;

/** The options of each. */
const KNOWN: Readonly<Record<Method, readonly string[]>> = {
  createItem: [...ITEM, "tags"],
  setItem: [...ITEM, "tags", "ifMatch", "requireExists"],
  getItem: ITEM,
  deleteItem: [...ITEM, "ifMatch"],
  listItemKeys: [...ITEM, "tags", "limit", "order", "after", "before"],
  iterateItemKeys: [...ITEM, "tags", "order", "pageSize"],
  getStore: ["signal"],
  updateStore: ["signal"],
  deleteStore: ["signal"],
  create: [...PORT, "tags"],
  set: [...PORT, "tags", "ifMatch"],
  get: PORT,
  delete: [...PORT, "ifMatch"],
  listKeys: [...PORT, "tags", "limit", "cursor", "order"],
};

/**
 * Refuses the options of another method. One that is left out of account would be a create in spite of `ifMatch`, or a walk
 * without end where the two families of methods go on from a page by another name.
 *
 * @throws `configuration`, the abort reason
 */
export function assertKnownOptions(method: Method, options: CallOptions): void {
  assertCallOptions(options);
  assertOptions(options, "options", KNOWN[method]);
}
