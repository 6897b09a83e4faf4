import type { CallOptions, Tags } from "@agentfw/core";
import type {
  StateStoreItemKey,
  StateStoreItemKeyPage,
  StateStoreItemReference,
  StateStoreProperties,
  StoreUpdate,
} from "./types.ts";

/** Whose item, and which one. Checked. */
export interface ItemCall {
  readonly key: string;
  readonly callId: string | undefined;
  /** Trusted identity by core's port. */
  readonly owner: string | null;
  readonly signal: AbortSignal | undefined;
}

/** What is written. Checked. */
export interface ItemWrite {
  /** The JSON text of an object. */
  readonly text: string;
  readonly tags: Tags | undefined;
  readonly ifMatch: string | undefined;
}

/** Which page. Checked. */
export interface KeysQuery {
  readonly tags: Tags;
  readonly limit: number | undefined;
  readonly order: "asc" | "desc";
  readonly after: string | undefined;
  readonly before: string | undefined;
}

/** An item with its value as text. */
export interface RawItem extends StateStoreItemKey {
  readonly text: string;
}

/** Where the items are: the service, or files on this machine. What it is given has been checked. */
export interface Backend {
  readonly isLocal: boolean;
  createItem(call: ItemCall, write: ItemWrite): Promise<StateStoreItemReference>;
  setItem(call: ItemCall, write: ItemWrite): Promise<StateStoreItemReference>;
  getItem(call: ItemCall): Promise<RawItem | undefined>;
  /** The id of what was deleted. */
  deleteItem(call: ItemCall, ifMatch: string | undefined): Promise<string | undefined>;
  listItemKeys(call: Omit<ItemCall, "key">, query: KeysQuery): Promise<StateStoreItemKeyPage>;
  getStore(options: CallOptions): Promise<StateStoreProperties>;
  updateStore(changes: StoreUpdate, options: CallOptions): Promise<StateStoreProperties>;
  /** True when there was one. */
  deleteStore(options: CallOptions): Promise<boolean>;
}
