import { AgentFrameworkError, type ConversationPlace } from "@agentfw/core";

/** Options of {@link enterConversation}. */
export interface EnterOptions {
  /** Wait for the run in front, or refuse with `conflict`. */
  readonly concurrency: "queue" | "reject";
  /** Longest wait, in milliseconds; then `timeout`. */
  readonly queueTimeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Places that the caller's own run, and the runs around it, hold: waiting for one of them would never end. */
  readonly held?: readonly PlaceLease[] | undefined;
  /** Called when the place is passed on because nobody reads the stream. */
  readonly onGaveWay?: (() => void) | undefined;
}

/** A run's right to be the only one on its conversation in this process. */
export interface PlaceLease {
  readonly place: ConversationPlace;
  /** False once the place was released, or passed on because nobody read the stream. */
  readonly isHeld: boolean;
  /** Says that the run stands still until its reader asks for more. */
  pause(): void;
  /** The reader asked for more. @throws `conflict` when the place was passed on meanwhile. */
  resume(): void;
  /** Lets the next run in. Does nothing the second time. */
  release(): void;
}

/** How long a run that is not read keeps others waiting, as a part of their own patience. */
const IDLE_PART = 3;

class Lease implements PlaceLease {
  readonly place: ConversationPlace;
  readonly queue: Queue;
  readonly #onGaveWay: (() => void) | undefined;
  #gaveWay = false;
  #pausedSince: number | undefined;

  constructor(place: ConversationPlace, queue: Queue, onGaveWay: (() => void) | undefined) {
    this.place = place;
    this.queue = queue;
    this.#onGaveWay = onGaveWay;
  }

  pause(): void {
    this.#pausedSince = Date.now();
  }

  /** Passes the place on when the reader has been away for at least as long as `idleMs`. */
  giveWay(idleMs: number): void {
    if (this.#pausedSince !== undefined && Date.now() - this.#pausedSince >= idleMs) {
      this.#gaveWay = true;
      this.#onGaveWay?.();
      this.release();
    }
  }

  resume(): void {
    this.#pausedSince = undefined;
    if (this.#gaveWay) {
      throw new AgentFrameworkError("conflict", "the stream was not read and gave its place on the conversation up");
    }
  }

  get isHeld(): boolean {
    return this.queue.holder === this;
  }

  release(): void {
    if (this.isHeld) {
      this.queue.next();
    }
  }
}

interface Waiter {
  admit(): void;
}

/** The runs on one conversation: one inside, the others in the order in which they came. */
class Queue {
  holder: Lease | undefined;
  readonly waiters: Waiter[] = [];
  readonly #drop: () => void;

  constructor(drop: () => void) {
    this.#drop = drop;
  }

  next(): void {
    this.holder = undefined;
    const waiter = this.waiters.shift();
    if (waiter === undefined) {
      this.#drop();
    } else {
      waiter.admit();
    }
  }
}

const SHARED: unique symbol = Symbol.for("agentfw.conversation-queues.1");

type Queues = WeakMap<object, Map<string, Queue>>;

/** One for the whole process, because two copies of this package may serve one store. Its number is that of its form. */
const queues: Queues = sharedQueues(globalThis as object);

function sharedQueues(place: object & { [SHARED]?: Queues }): Queues {
  place[SHARED] ??= new WeakMap();
  return place[SHARED];
}

/**
 * Enters a conversation, one run at a time within this process, in the order of the calls. Works across sessions that
 * were restored twice and agents that were made for a request, because the queue belongs to the store.
 *
 * A run that waits for its reader passes its place on after a third of the patience of the run that wants it, also when
 * that one would not queue.
 *
 * @throws `conflict` when the place is held by a run around this one, or taken and `concurrency` is `"reject"`;
 * `timeout` after `queueTimeoutMs`; the abort reason.
 */
export function enterConversation(place: ConversationPlace, options: EnterOptions): PlaceLease | Promise<PlaceLease> {
  options.signal?.throwIfAborted();
  if (options.held?.some((lease) => lease.isHeld && isSamePlace(lease.place, place))) {
    throw new AgentFrameworkError("conflict", "a run cannot wait for the run that it is part of");
  }
  const idleMs = options.queueTimeoutMs / IDLE_PART;
  if (options.concurrency === "reject") {
    queues.get(place.scope)?.get(place.key)?.holder?.giveWay(idleMs);
  }
  const queue = queueOf(place);
  const lease = new Lease(place, queue, options.onGaveWay);
  if (queue.holder === undefined) {
    queue.holder = lease;
    return lease;
  }
  if (options.concurrency === "reject") {
    throw new AgentFrameworkError("conflict", "another run is on this conversation");
  }
  return wait(queue, lease, options, idleMs);
}

function isSamePlace(left: ConversationPlace, right: ConversationPlace): boolean {
  return left.scope === right.scope && left.key === right.key;
}

function queueOf(place: ConversationPlace): Queue {
  const existing = queues.get(place.scope);
  const byKey = existing ?? new Map<string, Queue>();
  if (existing === undefined) {
    queues.set(place.scope, byKey);
  }
  const queue = byKey.get(place.key) ?? new Queue(() => byKey.delete(place.key));
  byKey.set(place.key, queue);
  return queue;
}

function wait(queue: Queue, lease: Lease, options: EnterOptions, idleMs: number): Promise<PlaceLease> {
  const { queueTimeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      clearTimeout(deadline);
      clearInterval(idleCheck);
      signal?.removeEventListener("abort", abort);
      finish();
    };
    const leave = (error: unknown) => {
      queue.waiters.splice(queue.waiters.indexOf(waiter), 1);
      settle(() => reject(error));
    };
    const abort = () => leave(signal?.reason);
    const waiter: Waiter = {
      admit: () => {
        queue.holder = lease;
        settle(() => resolve(lease));
      },
    };
    const deadline = setTimeout(
      () => leave(new AgentFrameworkError("timeout", `the conversation was not free within ${queueTimeoutMs} ms`)),
      queueTimeoutMs,
    );
    const idleCheck = setInterval(() => queue.holder?.giveWay(idleMs), Math.max(10, idleMs / 4));
    signal?.addEventListener("abort", abort, { once: true });
    queue.waiters.push(waiter);
  });
}
