import { AgentFrameworkError, configurationError } from "./errors.ts";
import { isPlainObject, type Json, setOwn, toJson } from "./json.ts";
import { assertCount, assertName, assertObject, assertOwner } from "./store-input.ts";

/** The version of the serialized form that this core writes, and the newest that it reads. */
const FORMAT_VERSION = 1;

/** The serialized form of a session. It says that there is an owner, never who. */
export interface AgentSessionJson {
  readonly type: "agentfw.session";
  readonly version: number;
  readonly sessionId: string;
  readonly serviceSessionId?: string | undefined;
  readonly owned?: true | undefined;
  readonly state: { readonly [key: string]: Json };
}

/**
 * How to make a session. An id that you choose names stored data, so it comes with its owner (`null`: nobody's);
 * without an id a fresh one is made, and the owner defaults to nobody.
 */
export type AgentSessionOptions =
  | {
      readonly sessionId: string;
      readonly owner: string | null;
      readonly serviceSessionId?: string | undefined;
      readonly state?: Readonly<Record<string, unknown>> | undefined;
    }
  | {
      readonly sessionId?: undefined;
      readonly owner?: string | null | undefined;
      readonly serviceSessionId?: string | undefined;
      readonly state?: Readonly<Record<string, unknown>> | undefined;
    };

/**
 * One conversation as the program holds it: its id, the id of the conversation that a service keeps (if any), and the
 * state that providers keep in it. JSON only.
 *
 * The owner is bound when trusted code makes the object, and is never serialized. A session is one user's; it may be
 * used by several runs at once, which the agent queues.
 */
export class AgentSession {
  readonly sessionId: string;
  /** The opaque id of a conversation that the model service keeps. Treat it as a secret of the server. */
  serviceSessionId: string | undefined;
  /** A slice for each provider, under its source id. Use {@link ProviderSessionState} for typed access. */
  readonly state: Record<string, unknown>;
  readonly #owner: string | null;

  /**
   * @throws `configuration` for an empty id, an id without an owner (`null` says that there is none), or state that
   * JSON cannot hold.
   */
  constructor(options: AgentSessionOptions = {}) {
    assertObject(options, "options");
    const { sessionId, serviceSessionId } = options;
    if (sessionId !== undefined) {
      assertName(sessionId, "sessionId");
      if (options.owner === undefined) {
        throw configurationError("owner", "must be given with a sessionId, null for nobody's");
      }
    }
    if (serviceSessionId !== undefined) {
      assertName(serviceSessionId, "serviceSessionId");
    }
    const owner = options.owner ?? null;
    assertOwner(owner, "owner");
    this.sessionId = sessionId ?? crypto.randomUUID();
    this.serviceSessionId = serviceSessionId;
    this.state = stateToJson(options.state ?? {});
    this.#owner = owner;
  }

  /** The trusted owner; `null` when nobody owns the session. */
  get owner(): string | null {
    return this.#owner;
  }

  /**
   * The serialized form, a copy.
   *
   * @throws `configuration` naming the path of state that JSON cannot hold.
   */
  toJSON(): AgentSessionJson {
    return {
      type: "agentfw.session",
      version: FORMAT_VERSION,
      sessionId: this.sessionId,
      ...(this.serviceSessionId === undefined ? {} : { serviceSessionId: this.serviceSessionId }),
      ...(this.#owner === null ? {} : { owned: true }),
      state: stateToJson(this.state),
    };
  }

  /**
   * Restores a session. The JSON is untrusted; the owner comes from the caller.
   *
   * @param json The serialized form, as an object or as JSON text.
   * @throws `configuration` naming what is malformed; `unsupported` for the form of a newer version; `unauthorized`
   * when the session was owned and no owner is given, or was not owned and one is given.
   */
  static fromJSON(json: unknown, options: { readonly owner?: string | null | undefined } = {}): AgentSession {
    assertObject(options, "options");
    const value = typeof json === "string" ? parse(json) : json;
    if (!isPlainObject(value)) {
      throw configurationError("session", "must be the JSON object of a session");
    }
    assertFormat(value);
    const { sessionId, serviceSessionId, state = {}, owned } = value;
    assertName(sessionId, "session.sessionId");
    if (serviceSessionId !== undefined) {
      assertName(serviceSessionId, "session.serviceSessionId");
    }
    if (!isPlainObject(state)) {
      throw configurationError("session.state", "must be an object");
    }
    const owner = options.owner ?? null;
    assertOwner(owner, "owner");
    if ((owned === true) !== (owner !== null)) {
      const message = owned === true ? "the session is owned; pass its owner" : "the session was made without an owner";
      throw new AgentFrameworkError("unauthorized", `session: ${message}`);
    }
    return new AgentSession({ sessionId, serviceSessionId, state, owner });
  }
}

function stateToJson(state: unknown): Record<string, Json> {
  const json = toJson(state, "state");
  if (!isPlainObject(json)) {
    throw configurationError("state", "must be an object");
  }
  return json;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw configurationError("session", "must be well-formed JSON", error);
  }
}

function assertFormat(value: Record<string, unknown>): void {
  if (value["type"] !== "agentfw.session") {
    throw configurationError("session.type", 'must be "agentfw.session"');
  }
  const { version, owned } = value;
  if (Number.isInteger(version) && Number(version) > FORMAT_VERSION) {
    throw new AgentFrameworkError("unsupported", `session.version: ${version} is newer than this core reads`);
  }
  assertCount(version, "session.version", 1);
  if (owned !== undefined && owned !== true) {
    throw configurationError("session.owned", "must be true or absent");
  }
}

/** Converts between a provider's own type and JSON. */
export interface StateCodec<T> {
  encode(value: T): Json;
  /** Throws when the JSON is not what `encode` writes. */
  decode(json: Json): T;
}

/** Options of {@link ProviderSessionState}. */
export interface ProviderSessionStateOptions<T> {
  /** The key in `session.state`: the provider's source id. */
  readonly key: string;
  /** Makes the value of a session that has none yet. */
  readonly initialize: (session: AgentSession) => T;
  /** Needed when `T` is not JSON as it stands. */
  readonly codec?: StateCodec<T> | undefined;
}

/** A typed slice of `session.state` for one provider. Values are copied in and out. */
export class ProviderSessionState<T> {
  readonly #options: ProviderSessionStateOptions<T>;

  constructor(options: ProviderSessionStateOptions<T>) {
    assertObject(options, "options", { initialize: "function" });
    assertName(options.key, "key");
    this.#options = options;
  }

  /**
   * The value of this session; when there is none, it is initialized and kept.
   *
   * @throws `corrupt` when the codec cannot read what is there. It is left as it is.
   */
  get(session: AgentSession): T {
    const { key, initialize, codec } = this.#options;
    if (!Object.hasOwn(session.state, key)) {
      this.set(session, initialize(session));
    }
    const json = toJson(session.state[key] ?? null, `state.${key}`);
    try {
      return codec === undefined ? unchecked<T>(json) : codec.decode(json);
    } catch (cause) {
      throw new AgentFrameworkError("corrupt", `state.${key}: cannot be read`, { cause });
    }
  }

  /** @throws `configuration` naming the path of what JSON cannot hold; the old value stays. */
  set(session: AgentSession, value: T): void {
    const { key, codec } = this.#options;
    const json = toJson(codec === undefined ? value : codec.encode(value), `state.${key}`);
    setOwn(session.state, key, json);
  }
}

/** Without a codec the caller vouches for the type: the slice is its own, and only it writes there. */
function unchecked<T>(json: Json): T {
  return json as T;
}
