import type { Scope, StateCapabilities, StateItem, StateKey, StateListOptions, StateStore, Tags } from "@agentfw/core";
import { notWritten } from "./errors.ts";
import { type __class__Options, resolveOptions } from "./options.ts";

/**
 * State on __name__. One instance serves all owners and any number of callers at once.
 *
 * The constructor checks the options and does nothing else: what must be opened is opened by the first call.
 */
export class __class__ implements StateStore {
  readonly contractVersion: 1 = 1;

  /** What is declared here must work, and the suite checks it; what is not declared must be refused. */
  readonly capabilities: StateCapabilities = { maxValueBytes: 1_048_576, ttl: false, isolation: true };

  /** @throws `configuration` naming the option and the rule. */
  constructor(options: __class__Options = {}) {
    resolveOptions(options);
  }

  create(
    _key: string,
    _text: string,
    _options: Scope & { readonly tags?: Tags | undefined } = {},
  ): Promise<{ readonly etag: string }> {
    return notWritten("create");
  }

  set(
    _key: string,
    _text: string,
    _options: Scope & { readonly tags?: Tags | undefined; readonly ifMatch?: string | undefined } = {},
  ): Promise<{ readonly etag: string }> {
    return notWritten("set");
  }

  get(_key: string, _options: Scope = {}): Promise<StateItem | undefined> {
    return notWritten("get");
  }

  delete(_key: string, _options: Scope & { readonly ifMatch?: string | undefined } = {}): Promise<boolean> {
    return notWritten("delete");
  }

  listKeys(
    _options: StateListOptions = {},
  ): Promise<{ readonly keys: readonly StateKey[]; readonly cursor?: string | undefined }> {
    return notWritten("listKeys");
  }

  /**
   * Releases what the store opened itself. Afterwards every call is refused with `configuration`, and this can be called
   * again. Take it away where there is nothing to release.
   */
  async close(): Promise<void> {}
}
