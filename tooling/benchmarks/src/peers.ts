import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { isPlainObject, type Message, messageText } from "@agentfw/core";
import { messages, TurnSource } from "./conversation.ts";
import { type JobContext, LOADED_MESSAGES, type Operation } from "./measurement.ts";
import { assertLoaded } from "./provider-turns.ts";

/** A message as peers are given it, to be put into whatever form they want it in. */
export interface PeerMessage {
  readonly id: string;
  readonly role: Message["role"];
  readonly text: string;
}

/** What a peer can keep a conversation in. */
export type PeerKind = "memory" | "file" | "redis";

/** Where a peer's server is. */
export interface PeerPlace {
  readonly url: string;
  /** Begins the keys of everything that is stored there. */
  readonly prefix: string;
}

/** What a peer's store is opened with. */
export interface PeerOptions extends Partial<PeerPlace> {
  /** An empty folder. */
  readonly directory: string;
  /** The conversations that there are to be. */
  readonly sessions: readonly string[];
  /** What each of them holds already. */
  readonly messages: readonly PeerMessage[];
}

/** A peer in use. */
export interface PeerStore {
  append(session: string, messages: readonly PeerMessage[]): Promise<void>;
  /** Loads the newest messages in the peer's best way, and tells how many there were. */
  load(session: string, last: number): Promise<number>;
  close?(): Promise<void>;
}

/** Another library's way to keep a conversation. */
export interface Peer {
  readonly name: string;
  readonly kind: PeerKind;
  open(options: PeerOptions): Promise<PeerStore>;
}

/** True for what a module of the peers' folder is to export. */
export function isPeer(value: unknown): value is Peer {
  return (
    isPlainObject(value) &&
    typeof value["name"] === "string" &&
    ["memory", "file", "redis"].some((kind) => kind === value["kind"]) &&
    typeof value["open"] === "function"
  );
}

/** Turns that are appended in a block. Some peers write the whole conversation for each, so it must not grow much. */
const TURNS_IN_A_BLOCK = 100;

/** Appends to one conversation, for every peer of a kind. */
export function peerAppends(context: JobContext, kind: PeerKind, place?: PeerPlace): Promise<Operation[]> {
  return eachPeer(context, kind, async (peer) => {
    const store = new Reopening(peer, context, { sessions: ["session"], count: context.sizes.messages, place });
    const turns = new TurnSource();
    return {
      name: peer.name,
      maxOperations: TURNS_IN_A_BLOCK,
      prepare: () => store.reopen(),
      close: () => store.close(),
      operation: () => store.current.append("session", nextTurn(turns)),
    };
  });
}

/** Appends to many conversations at once, for every peer of a kind. */
export function peerConcurrentAppends(context: JobContext, kind: PeerKind, place?: PeerPlace): Promise<Operation[]> {
  return eachPeer(context, kind, async (peer) => {
    const sessions = Array.from({ length: context.sizes.conversations }, (_, number) => `session-${number}`);
    const store = new Reopening(peer, context, { sessions, count: 0, place });
    const turns = new TurnSource();
    return {
      name: peer.name,
      maxOperations: TURNS_IN_A_BLOCK,
      prepare: () => store.reopen(),
      close: () => store.close(),
      operation: () => Promise.all(sessions.map((session) => store.current.append(session, nextTurn(turns)))),
    };
  });
}

/** Loads the end of a conversation, for every peer of a kind. */
export function peerLoads(context: JobContext, kind: PeerKind, count: number, place?: PeerPlace): Promise<Operation[]> {
  return eachPeer(context, kind, async (peer) => {
    const store = new Reopening(peer, context, { sessions: ["session"], count, place });
    await store.reopen();
    return {
      name: peer.name,
      close: () => store.close(),
      operation: async () => assertLoaded(await store.current.load("session", LOADED_MESSAGES)),
    };
  });
}

async function eachPeer(
  { peers }: JobContext,
  kind: PeerKind,
  make: (peer: Peer) => Promise<Operation>,
): Promise<Operation[]> {
  const operations: Operation[] = [];
  for (const peer of peers.filter((candidate) => candidate.kind === kind)) {
    operations.push(await make(peer));
  }
  return operations;
}

/** A peer's store that is made anew, with the same conversations in it. */
class Reopening {
  readonly #peer: Peer;
  readonly #context: JobContext;
  readonly #sessions: readonly string[];
  readonly #messages: readonly PeerMessage[];
  readonly #place: PeerPlace | undefined;
  #directory: string | undefined;
  #current: PeerStore | undefined;

  constructor(
    peer: Peer,
    context: JobContext,
    held: { readonly sessions: readonly string[]; readonly count: number; readonly place: PeerPlace | undefined },
  ) {
    this.#peer = peer;
    this.#context = context;
    this.#sessions = held.sessions;
    this.#messages = messages(held.count).map(peerMessage);
    this.#place = held.place;
  }

  get current(): PeerStore {
    if (this.#current === undefined) {
      throw new TypeError(`${this.#peer.name} is not open`);
    }
    return this.#current;
  }

  async close(): Promise<void> {
    await this.#current?.close?.();
    this.#current = undefined;
    if (this.#directory !== undefined) {
      await rm(this.#directory, { recursive: true, force: true });
    }
  }

  async reopen(): Promise<void> {
    await this.close();
    this.#directory = await mkdtemp(join(this.#context.directory, "peer-"));
    this.#current = await this.#peer.open({
      directory: this.#directory,
      sessions: this.#sessions,
      messages: this.#messages,
      ...(this.#place && { url: this.#place.url, prefix: `${this.#place.prefix}-${this.#peer.name}` }),
    });
  }
}

function nextTurn(turns: TurnSource): PeerMessage[] {
  const { user, assistant } = turns.next();
  return [peerMessage(user), peerMessage(assistant)];
}

function peerMessage(message: Message): PeerMessage {
  return { id: message.messageId, role: message.role, text: messageText(message) };
}
