import { randomUUID } from "node:crypto";
import type { HistoryRecord } from "@agentfw/core";
import { DEDUPE_IDS } from "./dedupe.ts";
import { deleteCleared } from "./deleting.ts";
import { failure } from "./errors.ts";
import { encodeSeal } from "./line-format.ts";
import { openNext } from "./next-segment.ts";
import { forget, observe, type Task } from "./observing.ts";
import { type End, type Outgoing, outgoing, withoutTear } from "./outgoing.ts";
import { readBack } from "./reading-back.ts";
import { jitter, randomName } from "./service.ts";
import { Tail } from "./tail.ts";
import { verdictOf } from "./verdicts.ts";

/** What is to be appended. */
export interface AppendInput {
  readonly records: readonly HistoryRecord[];
  readonly ifVersion: string | undefined;
  readonly segmentBytes: number;
  readonly segmentBlocks: number;
  /** The call's own limit in milliseconds. */
  readonly timeoutMs: number;
}

/** What the port's append gives. */
export interface AppendResult {
  readonly version: string;
  readonly appended: number;
}

/** How long another's turn of several blocks, or its clear, may stand still before it counts as left by who began it. */
const PATIENCE_MS = 1_000;
const PATIENCE_PAUSE_MS = 60;
/** How often a write without an answer is looked for and sent again. */
const MOST_LOOKS = 2;

/** Appends a turn. The input has been checked. @throws `conflict` under a version that is not the current one */
export async function appendTurn(task: Task, input: AppendInput): Promise<AppendResult> {
  const appending = new Appending(task, input);
  if (task.conversation.contention.isNear) {
    await task.call.pause(task.conversation.contention.pauseMs(0));
  }
  for (let tries = 0; ; tries += 1) {
    const result = await appending.try();
    if (result !== undefined) {
      return result;
    }
    await task.call.pause(task.conversation.contention.pauseMs(tries));
  }
}

class Appending {
  readonly #task: Task;
  readonly #input: AppendInput;
  /** Tells this call's turn from every other, also from one that was given up and is still on its way. */
  readonly #writeName = randomUUID().slice(-12);
  /** The turn that was sent last, and what the end was that it was sent for. */
  #sent: { readonly turn: number; readonly life: string; readonly etag: string } | undefined;
  /** True when the end must be looked at before anything is decided by it. */
  #mustLook: boolean;
  /** True when what is known of the end is of this call. */
  #hasLooked = false;
  #looksForLost = 0;
  /** The end that the service takes no further block for. */
  #fullAt: string | undefined;
  /** What someone else has not finished, and since when it stands still. */
  #waiting: { readonly size: number; readonly since: number } | undefined;

  constructor(task: Task, input: AppendInput) {
    this.#task = task;
    this.#input = input;
    this.#mustLook = task.conversation.tail === undefined || task.conversation.contention.isNear;
  }

  /** Undefined: something came in between, and it must be tried again. */
  async try(): Promise<AppendResult | undefined> {
    const tail = this.#mustLook ? await this.#look() : this.#task.conversation.tail;
    const done = await this.#find(tail);
    if (done !== undefined) {
      return done;
    }
    if (tail === undefined || tail.isAbsent) {
      return this.#appendFirst(tail);
    }
    await this.#knowIds(tail);
    const fresh = this.#input.records.filter(({ id }) => !tail.has(id));
    const isAsExpected = this.#input.ifVersion === undefined || this.#input.ifVersion === tail.version;
    if ((fresh.length === 0 || !isAsExpected || tail.seal !== undefined) && !this.#hasLooked) {
      return this.#lookAgain();
    }
    if (fresh.length === 0) {
      return { version: tail.version, appended: 0 };
    }
    if (!isAsExpected) {
      throw failure("conflict", "append: another writer came first", { currentVersion: tail.version });
    }
    if (this.#isPatient(tail)) {
      await this.#task.call.pause(jitter(PATIENCE_PAUSE_MS));
      return this.#lookAgain();
    }
    return this.#write(tail, fresh);
  }

  async #look(): Promise<Tail | undefined> {
    const view = await observe(this.#task, this.#task.conversation.tail === undefined ? DEDUPE_IDS : 1);
    this.#hasLooked = true;
    this.#mustLook = false;
    return view?.tail;
  }

  #lookAgain(): undefined {
    this.#mustLook = true;
    return undefined;
  }

  /** Tells what became of a turn that was sent. Its condition held for one end of the conversation and no other. */
  async #find(tail: Tail | undefined): Promise<AppendResult | undefined> {
    const sent = this.#sent;
    if (sent === undefined || (tail !== undefined && tail.etag === sent.etag)) {
      // Nothing has changed: it may still arrive, and sent once more under the same condition it stays the only one.
      return undefined;
    }
    const { turn, life } = sent;
    let count: number | undefined;
    if (tail !== undefined && !tail.isAbsent && tail.info.life === life) {
      // Others may have written more behind it than a look at the end shows.
      await readBack(this.#task, tail, () => tail.knowsFrom(turn));
      count = tail.countOf({ turn, write: this.#writeName });
    }
    this.#sent = undefined;
    this.#task.call.settle();
    return count === undefined ? undefined : { version: `${life}.${turn}`, appended: count };
  }

  /** Makes sure that enough of the newest ids are known. */
  #knowIds(tail: Tail): Promise<void> {
    return readBack(this.#task, tail, () => tail.idCount >= DEDUPE_IDS);
  }

  /** Begins a conversation, or a new one where an old one was cleared. */
  async #appendFirst(tail: Tail | undefined): Promise<AppendResult | undefined> {
    if (!this.#hasLooked) {
      return this.#lookAgain();
    }
    const { ifVersion = "", records } = this.#input;
    if (ifVersion !== "") {
      throw failure("conflict", "append: there is no such conversation any more", { currentVersion: "" });
    }
    if (tail !== undefined && tail.seal !== "cleared") {
      return this.#isPatient(tail) ? this.#lookAgain() : this.#write(tail, records);
    }
    if (tail !== undefined && (await this.#finishClear(tail))) {
      return this.#lookAgain();
    }
    const begun = await this.#begin(tail);
    return begun === undefined ? this.#lookAgain() : this.#write(begun, records);
  }

  /**
   * Deletes what someone has cleared, so that all who begin again begin with the same segment, and one of them does. False:
   * it may not be deleted, and nobody else does it.
   */
  async #finishClear(ended: Tail): Promise<boolean> {
    try {
      await deleteCleared(this.#task, ended);
      return true;
    } catch (error) {
      if (verdictOf(error) !== "refused") {
        throw error;
      }
      return this.#isAwaited(ended.size);
    }
  }

  async #begin(ended: Tail | undefined): Promise<Tail | undefined> {
    const { call, service, conversation } = this.#task;
    const segment = ended === undefined ? 0 : ended.segment + 1;
    const info = { life: randomName(12), first: segment, before: 0, base: 0 };
    const etag = await service.create(call, placeOf(this.#task, segment), info, conversation.names);
    if (etag === undefined) {
      return undefined;
    }
    conversation.tail = Tail.next(undefined, { info, segment, start: 0, size: 0, etag, blocks: 0 });
    return conversation.tail;
  }

  #isPatient({ pending, size }: Tail): boolean {
    return pending !== undefined && pending.write !== this.#writeName && this.#isAwaited(size);
  }

  /** True until an end stands still for so long that what someone else began counts as left. */
  #isAwaited(size: number): boolean {
    if (this.#waiting?.size !== size) {
      this.#waiting = { size, since: performance.now() };
    }
    // A short limit must not end the call before what someone left can be passed over.
    const patienceMs = Math.min(PATIENCE_MS, this.#input.timeoutMs / 4);
    return performance.now() - this.#waiting.since < patienceMs;
  }

  async #write(tail: Tail, records: readonly HistoryRecord[]): Promise<AppendResult | undefined> {
    const next = outgoing(tail, this.#writeName, records);
    if (tail.seal !== undefined || this.#fullAt === tail.etag || this.#isFull(tail, next)) {
      return this.#writeToNext(tail, records);
    }
    const { life } = tail.info;
    let end: End | undefined = tail;
    for (const [index, block] of next.blocks.entries()) {
      const isCommit = index === next.blocks.length - 1;
      this.#sent = isCommit ? { turn: next.turnName.turn, life, etag: end.etag } : undefined;
      end = await this.#append(tail, end, block, isCommit);
      if (end === undefined) {
        return undefined;
      }
    }
    this.#sent = undefined;
    this.#task.call.settle();
    tail.wrote(next, end);
    return { version: `${life}.${next.turnName.turn}`, appended: records.length };
  }

  #isFull({ size, blocks }: Tail, { bytes, blocks: added }: Outgoing): boolean {
    const { segmentBytes, segmentBlocks } = this.#input;
    // The last block is for the seal. What is too large for any segment goes into one of its own.
    return blocks > 0 && (blocks + added.length + 1 > segmentBlocks || size + bytes > segmentBytes);
  }

  async #writeToNext(tail: Tail, records: readonly HistoryRecord[]): Promise<AppendResult | undefined> {
    if (tail.seal === undefined && this.#fullAt !== tail.etag) {
      const sealed = await this.#append(tail, tail, withoutTear(tail, encodeSeal("next")), false);
      if (sealed === undefined) {
        return undefined;
      }
      tail.sealed(sealed);
    }
    const next = await openNext(this.#task, tail);
    if (next !== undefined) {
      return this.#write(next, records);
    }
    if (tail.seal === undefined) {
      // Nothing in this segment says that there is another one.
      forget(this.#task.conversation, tail);
    }
    return this.#lookAgain();
  }

  /** Appends one block to an end. Undefined: it is another end by now, and must be looked at. */
  async #append(tail: Tail, end: End, bytes: Buffer, isCommit: boolean): Promise<End | undefined> {
    const { call, service, conversation } = this.#task;
    const { etag, size: position } = end;
    try {
      const place = placeOf(this.#task, tail.segment);
      const began = performance.now();
      const outcome = await service.append(call, place, { bytes, etag, position, isCommit });
      conversation.contention.took(performance.now() - began);
      if (outcome.isDone) {
        return { etag: outcome.etag, size: position + bytes.length, blocks: outcome.blocks };
      }
      if (outcome.verdict === "condition") {
        conversation.contention.met();
      } else if (outcome.verdict === "no-blob") {
        forget(conversation, tail);
      } else if (outcome.verdict === "full") {
        // As good as sealed, unless there is more in it than was known.
        this.#fullAt = etag;
      }
    } catch (error) {
      this.#looksForLost += 1;
      if (!isCommit || verdictOf(error) !== "lost" || this.#looksForLost > MOST_LOOKS) {
        throw error;
      }
    }
    return this.#lookAgain();
  }
}

function placeOf({ conversation: { directory } }: Task, segment: number): { directory: string; segment: number } {
  return { directory, segment };
}
