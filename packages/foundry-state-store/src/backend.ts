import type { Tags } from "@agentfw/core";
import type {
  StateStoreItemKey,
  StateStoreItemKeyPage,
  StateStoreItemReference,
  StateStoreProperties,
  StoreUpdate,
} from "./types.ts";

/** What is asked, and on whose behalf. Checked. */
export interface ScopeCall {
  /** Named in errors. */
  readonly operation: string;
  readonly callId: string | undefined;
  /** Trusted identity by core's port. */
  readonly owner: string | null;
  readonly signal: AbortSignal | undefined;
}

/** Whose item, and which one. Checked. */
export interface ItemCall extends ScopeCall {
  readonly key: string;
}

/** What is written. Checked. */
export interface ItemWrite {
  /** The JSON text of an object. */
  readonly text: string;
  readonly tags: Tags;
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
  /** True when there was one. */
  deleteItem(call: ItemCall, ifMatch: string | undefined): Promise<boolean>;
  listItemKeys(call: ScopeCall, query: KeysQuery): Promise<StateStoreItemKeyPage>;
  getStore(call: ScopeCall): Promise<StateStoreProperties>;
  updateStore(changes: StoreUpdate, call: ScopeCall): Promise<StateStoreProperties>;
  /** True when there was one. */
  deleteStore(call: ScopeCall): Promise<boolean>;
}

/** What a store object is made of. */
export interface StoreParts {
  readonly backend: Backend;
  readonly properties: StateStoreProperties;
  readonly isIsolated: boolean;
  readonly callId?: string | undefined;
}
