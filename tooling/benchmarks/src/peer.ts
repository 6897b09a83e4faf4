import { isPlainObject, type Message } from "@agentfw/core";

/** A message as peers are given it, to be put into whatever form they want it in. */
export interface PeerMessage {
  readonly id: string;
  readonly role: Message["role"];
  readonly text: string;
}

/** What a peer can keep a conversation in. */
export type PeerKind = "memory" | "file" | "redis" | "postgres";

/** Where a peer's server is. */
export interface PeerPlace {
  readonly url: string;
  /** Begins the keys of everything that is stored there; where there are schemas, it is the name of one. */
  readonly prefix: string;
  /** How many messages of other conversations there are to be. @default none */
  readonly others?: number | undefined;
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
  /** It is left out where a conversation is longer, because one load would take seconds. @default any length */
  readonly mostMessages?: number | undefined;
  open(options: PeerOptions): Promise<PeerStore>;
}

/** True for what a module of the peers' folder is to export. */
export function isPeer(value: unknown): value is Peer {
  return (
    isPlainObject(value) &&
    typeof value["name"] === "string" &&
    ["memory", "file", "redis", "postgres"].some((kind) => kind === value["kind"]) &&
    typeof value["open"] === "function"
  );
}
