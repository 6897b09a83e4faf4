import type { Scope, StateCapabilities, StateItem, StateKey, StateListOptions, Tags } from "./state-types.ts";

/**
 * Durable key-value state. `text` is a JSON object; anything else is `configuration`, above the declared size
 * `too_large`. Every write gives the item a new etag and renews its idle expiry; reads do not renew.
 */
export interface StateStore {
  readonly contractVersion: 1;
  readonly capabilities: StateCapabilities;

  /** Creates the item; `conflict` with its etag when the key is taken. One of any number of callers wins. */
  create(
    key: string,
    text: string,
    options?: Scope & { readonly tags?: Tags | undefined },
  ): Promise<{ readonly etag: string }>;

  /** Writes the item. `ifMatch`: an exact etag, or `*` for any existing item; else `conflict` with the current etag. */
  set(
    key: string,
    text: string,
    options?: Scope & { readonly tags?: Tags | undefined; readonly ifMatch?: string | undefined },
  ): Promise<{ readonly etag: string }>;

  /** The item, or `undefined` when there is none, it expired, or it is someone else's. */
  get(key: string, options?: Scope): Promise<StateItem | undefined>;

  /** True when something was deleted. With `ifMatch`, `conflict` when the item has another etag. */
  delete(key: string, options?: Scope & { readonly ifMatch?: string | undefined }): Promise<boolean>;

  /** Pages over the keys in a stable order; each key that exists throughout comes exactly once. */
  listKeys(
    options?: StateListOptions,
  ): Promise<{ readonly keys: readonly StateKey[]; readonly cursor?: string | undefined }>;

  /**
   * Releases what the store opened itself; a client that was passed in stays open. Calls that were made before end as they
   * would have, where there is time for it. A later call rejects with `configuration` and does nothing; only `close` itself
   * can be called again.
   */
  close?(): Promise<void>;
}
