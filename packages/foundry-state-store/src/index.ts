export { currentCallId, runWithCallId } from "./call-id.ts";
export { FoundryHistoryStore, type FoundryHistoryStoreOptions } from "./foundry-history-store.ts";
export { FoundryStateStore, LocalStateStore } from "./foundry-state-store.ts";
export type { FoundryStateStoreOptions, LocalStateStoreOptions, StoreCreationOptions } from "./options.ts";
export type {
  CreateItemOptions,
  DeleteItemOptions,
  ItemOptions,
  IterateItemKeysOptions,
  JsonObject,
  ListItemKeysOptions,
  SetItemOptions,
  StateStoreItem,
  StateStoreItemKey,
  StateStoreItemKeyPage,
  StateStoreItemReference,
  StateStoreProperties,
  StoreUpdate,
} from "./types.ts";
