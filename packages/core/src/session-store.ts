import { assertTimeout, withDeadline } from "./deadline.ts";
import { AgentFrameworkError, configurationError, isAgentFrameworkError } from "./errors.ts";
import type { CallOptions } from "./ports/history-types.ts";
import type { StateStore } from "./ports/state-store.ts";
import { AgentSession } from "./session.ts";
import {
  assertCallOptions,
  assertContractVersion,
  assertCount,
  assertName,
  assertObject,
  assertOwner,
  assertSession,
} from "./store-input.ts";

/** Whose session it is; needed at every call, `null` for sessions that nobody owns. */
export interface SessionScope {
  readonly owner: string | null;
  readonly signal?: AbortSignal | undefined;
}

/** A page of session ids. */
export interface SessionList {
  readonly sessionIds: readonly string[];
  readonly cursor?: string | undefined;
}

/**
 * Whole sessions in a {@link StateStore}. Every call is bound to an owner, which is part of the key; a session of
 * someone else reads as absent. Saving is optimistic: what was loaded is saved only over what it was loaded from.
 *
 * Every call settles within `timeoutMs`: a read with `timeout`, a write whose answer is missing with `outcome_unknown`.
 */
export class SessionStore {
  readonly #store: StateStore;
  readonly #timeoutMs: number;
  /** The etag under which a session object was last loaded or saved. */
  readonly #etags = new WeakMap<AgentSession, string>();

  /**
   * @param options `timeoutMs`: every store call settles within this time, whatever the store does. @default 10,000
   * @throws `unsupported` for a store made for a later contract.
   */
  constructor(store: StateStore, options: { readonly timeoutMs?: number | undefined } = {}) {
    assertContractVersion(store, "store");
    assertObject(options, "options");
    const { timeoutMs = 10_000 } = options;
    assertTimeout(timeoutMs, "timeoutMs");
    this.#store = store;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * The session, an independent copy bound to its owner, or `undefined` when this owner has none with this id.
   *
   * @throws `corrupt` for a snapshot that cannot be read, `unsupported` for one of a newer version; both are left as
   * they are.
   */
  async load(sessionId: string, scope: SessionScope): Promise<AgentSession | undefined> {
    const key = keyOf(sessionId, scope);
    const item = await this.#call("load", "read", scope, () => this.#store.get(key, scope));
    if (item === undefined) {
      return undefined;
    }
    const session = restore(item.text, sessionId, scope.owner);
    this.#etags.set(session, item.etag);
    return session;
  }

  /**
   * Saves a session under its own owner: a new one only if there is none with its id, a loaded one only over the
   * version that it was loaded from.
   *
   * @param options `overwrite: true` writes over whatever is there.
   * @throws `conflict` with the current etag when someone else saved first; `configuration` naming the path of state that JSON
   * cannot hold; `too_large`.
   */
  async save(
    session: AgentSession,
    options: { readonly overwrite?: boolean | undefined; readonly signal?: AbortSignal | undefined } = {},
  ): Promise<void> {
    assertSession(session);
    assertCallOptions(options);
    const scope = { owner: session.owner, signal: options.signal };
    const key = keyOf(session.sessionId, scope);
    const text = JSON.stringify(session);
    const etag = this.#etags.get(session);
    const write = { ...scope, tags: tagsOf(scope) };
    const saved = await this.#call("save", "write", scope, () =>
      options.overwrite || etag !== undefined
        ? this.#store.set(key, text, { ...write, ...(options.overwrite ? {} : { ifMatch: etag }) })
        : this.#store.create(key, text, write),
    );
    this.#etags.set(session, saved.etag);
  }

  /**
   * Changes a stored session: loads it, lets `change` work on it, and saves it; when someone else saved in between, it
   * starts over with theirs, after a random pause of up to 100 ms. `change` may therefore be called several times.
   *
   * @param options `attempts`: how often to try. @default 20
   * @throws `not_found` when this owner has no such session; `conflict` after the last attempt.
   */
  async update(
    sessionId: string,
    scope: SessionScope & { readonly attempts?: number | undefined },
    change: (session: AgentSession) => void | Promise<void>,
  ): Promise<AgentSession> {
    const attempts = scope?.attempts ?? 20;
    assertCount(attempts, "attempts", 1);
    for (let attempt = 1; ; attempt += 1) {
      const session = await this.load(sessionId, scope);
      if (session === undefined) {
        throw new AgentFrameworkError("not_found", "update: there is no such session");
      }
      await change(session);
      try {
        await this.save(session, { signal: scope.signal });
        return session;
      } catch (error) {
        if (!isAgentFrameworkError(error, "conflict") || attempt >= attempts) {
          throw error;
        }
      }
      // Writers that met once would meet again at every attempt if each of them started over at once.
      await new Promise<void>((resolve) => setTimeout(resolve, Math.random() * Math.min(2 ** attempt, 100)));
    }
  }

  /** Deletes a session; true when there was one. Its history is the history store's to clear. */
  async delete(sessionId: string, scope: SessionScope): Promise<boolean> {
    const key = keyOf(sessionId, scope);
    return this.#call("delete", "write", scope, () => this.#store.delete(key, scope));
  }

  /** The ids of this owner's sessions, oldest first, in pages. */
  async list(
    scope: SessionScope & { readonly limit?: number | undefined; readonly cursor?: string | undefined },
  ): Promise<SessionList> {
    const tags = tagsOf(scope);
    const { limit, cursor, ...rest } = scope;
    const page = await this.#call("list", "read", scope, () => this.#store.listKeys({ ...rest, tags, limit, cursor }));
    return { sessionIds: page.keys.flatMap(({ key }) => idOf(key, scope.owner)), cursor: page.cursor };
  }

  #call<T>(name: string, kind: "read" | "write", options: CallOptions, operation: () => Promise<T>): Promise<T> {
    assertCallOptions(options);
    return withDeadline(
      name,
      { kind, signal: options.signal, timeoutMs: this.#timeoutMs, provider: "session-store" },
      operation,
    );
  }
}

const PREFIX = "session:";

/** JSON keeps any two names apart, whatever characters they hold, and is readable in the store. */
function keyOf(sessionId: string, scope: SessionScope): string {
  assertName(sessionId, "sessionId");
  assertOwner(scope?.owner, "owner");
  return PREFIX + JSON.stringify([scope.owner, sessionId]);
}

function tagsOf(scope: SessionScope): Record<string, string> {
  assertOwner(scope?.owner, "owner");
  return { agentfw: PREFIX + JSON.stringify(scope.owner) };
}

function idOf(key: string, owner: string | null): string[] {
  if (!key.startsWith(PREFIX)) {
    return [];
  }
  const names: unknown = JSON.parse(key.slice(PREFIX.length));
  return Array.isArray(names) && names[0] === owner && typeof names[1] === "string" ? [names[1]] : [];
}

function restore(text: string, sessionId: string, owner: string | null): AgentSession {
  try {
    const session = AgentSession.fromJSON(text, { owner });
    if (session.sessionId !== sessionId) {
      throw configurationError("session.sessionId", "is not the one that it is stored under");
    }
    return session;
  } catch (cause) {
    if (isAgentFrameworkError(cause, "unsupported")) {
      throw cause;
    }
    throw new AgentFrameworkError("corrupt", "the stored session cannot be read", { cause });
  }
}
