import type { StateStore } from "@agentfw/core";

const ITEM = ["callId", "signal"];
const PORT = ["owner", "signal"];

/** The methods of a store. */
export type Method =
  | `${"create" | "set" | "get" | "delete"}Item`
  | `${"get" | "update" | "delete"}Store`
  | `${"list" | "iterate"}ItemKeys`
  | keyof Pick<StateStore, "create" | "set" | "get" | "delete" | "listKeys">;

/** The options of each. */
export const KNOWN_OPTIONS: Readonly<Record<Method, readonly string[]>> = {
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
