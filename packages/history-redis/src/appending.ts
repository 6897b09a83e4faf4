import type { HistoryRecord } from "@agentfw/core";
import { type Conversation, hasCome, type Moment, momentIn, NEVER } from "./conversations.ts";
import type { Request } from "./load-engine.ts";
import { pushElements } from "./record-format.ts";
import { evalCall } from "./script-call.ts";

/** An append whose parts were checked. */
export interface Append {
  readonly conversation: Conversation;
  /** The caller's, who may change them later. */
  readonly records: readonly HistoryRecord[];
  /** As the scripts take it. */
  readonly condition: string;
  /** The version that it makes. */
  readonly stamp: string;
  readonly signal: AbortSignal | undefined;
}

/** What `append` gives. */
export interface Appended {
  readonly version: string;
  readonly appended: number;
}

type Receive = Request<Appended>["receive"];

/** More records than these are not worth two ways to send them. */
const MOST_USUAL_RECORDS = 1000;

/** Makes the requests for appends to a store with these limits; a life of 0 has no end. */
export class Appending {
  readonly #ttlMs: number;
  readonly #maxRecords: number | undefined;
  /** Tells in a set of ids that the ttl is known there. No id has a bar as it is stored. */
  readonly #mark: string;

  constructor(ttlMs: number, maxRecords: number | undefined) {
    this.#ttlMs = ttlMs;
    this.#maxRecords = maxRecords;
    this.#mark = `|${ttlMs}`;
  }

  /** Each key and argument costs both sides, so where the index need not be told, only what is needed then is sent. */
  request(append: Append): Request<Appended> {
    const { condition, conversation, records, signal, stamp } = append;
    const isDue = hasCome(conversation.due);
    if (isDue || condition !== "*" || this.#maxRecords !== undefined || records.length > MOST_USUAL_RECORDS) {
      const elements: string[] = [];
      pushElements(elements, records, stamp);
      return this.#wholeRequest(append, elements, isDue);
    }
    const { keys } = conversation;
    const args = ["", "2", keys.records, keys.ids, this.#mark];
    const start = args.length;
    pushElements(args, records, stamp);
    const { send, sendWhole } = evalCall("append", args);
    const receive: Receive = (reply, engine) => engine.appendedOf(reply, stamp);
    const next = (reply: unknown) => (reply === "?" ? this.#wholeRequest(append, args.slice(start), true) : undefined);
    return { name: "append", kind: "write", mayRepeat: true, signal, send, sendWhole, receive, next };
  }

  /** The append with all that it may have to touch. */
  #wholeRequest(append: Append, elements: readonly string[], isDue: boolean): Request<Appended> {
    const { condition, conversation, signal, stamp } = append;
    const { keys } = conversation;
    const head = ["", "5", keys.records, keys.ids, keys.removed, keys.names, keys.expiries, this.#mark];
    const tail = [condition, String(this.#maxRecords ?? ""), isDue && this.#ttlMs > 0 ? "+" : ""];
    const { send, sendWhole } = evalCall("append", head.concat(elements, tail));
    const due = isDue ? this.#nextDue() : undefined;
    const receive: Receive = (reply, engine) => {
      const result = engine.appendedOf(reply, stamp);
      if (due !== undefined && result.appended > 0) {
        conversation.due = due;
      }
      return result;
    };
    return { name: "append", kind: "write", mayRepeat: true, signal, send, sendWhole, receive };
  }

  /** Until when ids and index need not be told again. */
  #nextDue(): Moment {
    return this.#ttlMs > 0 ? momentIn(Math.ceil(this.#ttlMs / 16)) : NEVER;
  }
}
