import { randomBytes } from "node:crypto";
import type { HistoryRecord } from "@agentfw/core";
import { DEDUPE_IDS } from "./dedupe.ts";
import { deleteCleared } from "./deleting.ts";
import { failure } from "./errors.ts";
import { encodeSeal, encodeTurn } from "./line-format.ts";
import { openNext } from "./next-segment.ts";
import { observe } from "./observing.ts";
import type { End } from "./parsing.ts";
import { readBack } from "./reading-back.ts";
import { Tail } from "./tail.ts";
import type { Task } from "./task.ts";
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
  const { call, conversation } = task;
  const { contention, tail: known } = conversation;
  const appending = new Appending(task, input);
  let mustLook = known === undefined || contention.isNear;
  if (contention.isNear) {
    await call.pause(contention.pauseMs(0));
  }
  for (let tries = 0; ; tries += 1) {
    const records = conversation.tail === undefined ? DEDUPE_IDS : 1;
    const tail = mustLook ? (await observe(task, records))?.tail : known;
    const result = (await appending.find(tail)) ?? (await appending.try(tail, mustLook));
    if (result !== undefined) {
      return result;
    }
    mustLook = true;
    await call.pause(contention.pauseMs(tries));
  }
}

class Appending {
  readonly #task: Task;
  readonly #input: AppendInput;
  /** Tells this call's turn from every other, also from one that was given up and is still on its way. */
  readonly #writeName = randomBytes(6).toString("hex");
  /** The turn that was sent last, and what the end was that it was sent for. */
  #sent: { readonly turn: number; readonly life: string; readonly etag: string } | undefined;
  #looksForLost = 0;
  /** What someone else has not finished, and since when it stands still. */
  #waiting: { readonly size: number; readonly since: number } | undefined;

  constructor(task: Task, input: AppendInput) {
    this.#task = task;
    this.#input = input;
  }

  /** Tells what became of a turn that was sent. Its condition held for one end of the conversation and no other. */
  async find(tail: Tail | undefined): Promise<AppendResult | undefined> {
    const sent = this.#sent;
    if (sent === undefined || tail?.end.etag === sent.etag) {
      // Nothing has changed: it may still arrive, and sent once more under the same condition it stays the only one.
      return undefined;
    }
    const { turn, life } = sent;
    let count: number | undefined;
    if (tail?.info.life === life && tail.version !== "") {
      // Others may have written more behind it than a look at the end shows.
      await readBack(this.#task, tail, () => tail.knowsFrom(turn));
      count = tail.countOf({ turn, write: this.#writeName });
    }
    this.#sent = undefined;
    this.#task.call.settle();
    return count === undefined ? undefined : { version: `${life}.${turn}`, appended: count };
  }

  /**
   * Writes behind an end, which is the current one if this call has looked: nothing is refused by what was known before.
   * Undefined: one must look, and try again.
   */
  async try(tail: Tail | undefined, isCurrent: boolean): Promise<AppendResult | undefined> {
    const { ifVersion, records } = this.#input;
    const version = tail?.version ?? "";
    const fresh = tail === undefined || version === "" ? records : await this.#unknown(tail);
    const isExpected = ifVersion === undefined || ifVersion === version;
    if (!isCurrent && (version === "" || fresh.length === 0 || !isExpected || tail?.last.seal !== undefined)) {
      return undefined;
    }
    if (fresh.length === 0) {
      return { version, appended: 0 };
    }
    if (!isExpected) {
      throw failure("conflict", "append: ifVersion is not the current version", { currentVersion: version });
    }
    if (tail === undefined || tail.last.seal === "cleared") {
      const begun = await this.#begin(tail);
      return begun && this.#write(begun, fresh);
    }
    return (await this.#waitsFor(tail)) ? undefined : this.#write(tail, fresh);
  }

  /** The records that are not stored, by the newest ids, of which enough are known then. */
  async #unknown(tail: Tail): Promise<readonly HistoryRecord[]> {
    await readBack(this.#task, tail, () => tail.idCount >= DEDUPE_IDS);
    return this.#input.records.filter(({ id }) => !tail.has(id));
  }

  /** Begins a conversation, where an old one was cleared behind that. */
  async #begin(ended: Tail | undefined): Promise<Tail | undefined> {
    if (ended !== undefined && (await this.#finishClear(ended))) {
      return undefined;
    }
    const segment = ended === undefined ? 0 : ended.info.segment + 1;
    const life = randomBytes(12).toString("base64url");
    const made = await this.#task.create({ segment, life, first: segment, before: 0, base: 0 });
    if (made !== undefined) {
      this.#task.conversation.tail = new Tail(made);
    }
    return made && this.#task.conversation.tail;
  }

  /**
   * Deletes what someone has cleared, so that all who begin again begin with the same segment, and one of them does. False:
   * it may not be deleted, and nobody else does it.
   */
  async #finishClear(ended: Tail): Promise<boolean> {
    try {
      await deleteCleared(this.#task, ended.info);
      return true;
    } catch (error) {
      if (verdictOf(error) !== "refused") {
        throw error;
      }
      return this.#isAwaited(ended.end.size);
    }
  }

  /** Waits a moment for a turn that someone else has begun. False: there is none, or it counts as left. */
  async #waitsFor({ last: { pending }, end }: Tail): Promise<boolean> {
    if (pending === undefined || pending === this.#writeName || !this.#isAwaited(end.size)) {
      return false;
    }
    await this.#task.call.pause(PATIENCE_PAUSE_MS);
    return true;
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
    const { info, last } = tail;
    const name = { turn: tail.turn + 1, write: this.#writeName };
    const start = tail.end.size + last.tear.length;
    const blocks = encodeTurn(name, records, start, last.tear);
    if (last.seal !== undefined || this.#isFull(tail.end, blocks)) {
      return this.#writeToNext(tail, records);
    }
    let end: End | undefined = tail.end;
    for (const [index, block] of blocks.entries()) {
      const isCommit = index === blocks.length - 1;
      this.#sent = isCommit ? { turn: name.turn, life: info.life, etag: end.etag } : undefined;
      end = await this.#append(tail, end, block, isCommit);
      if (end === undefined) {
        return undefined;
      }
    }
    this.#sent = undefined;
    this.#task.call.settle();
    tail.wrote({ info, start, ids: records.map(({ id }) => id), name }, end);
    return { version: `${info.life}.${name.turn}`, appended: records.length };
  }

  #isFull({ size, blocks }: End, added: readonly Buffer[]): boolean {
    const { segmentBytes, segmentBlocks } = this.#input;
    const bytes = added.reduce((sum, block) => sum + block.length, size);
    // The last block is for the seal. What is too large for any segment goes into one of its own.
    return blocks > 0 && (blocks + added.length + 1 > segmentBlocks || bytes > segmentBytes);
  }

  async #writeToNext(tail: Tail, records: readonly HistoryRecord[]): Promise<AppendResult | undefined> {
    if (tail.last.seal === undefined) {
      const sealed = await this.#append(tail, tail.end, encodeSeal("next", tail.last.tear), false);
      if (sealed === undefined) {
        return undefined;
      }
      tail.sealed(sealed);
    }
    const next = await openNext(this.#task, tail);
    return next && this.#write(next, records);
  }

  /** Appends one block to an end. Undefined: it is another end by now, and must be looked at. */
  async #append(tail: Tail, end: End, block: Buffer, isCommit: boolean): Promise<End | undefined> {
    const { contention } = this.#task.conversation;
    const began = performance.now();
    try {
      const next = await this.#task.append(tail.info.segment, end, block, isCommit);
      contention.took(performance.now() - began);
      return next;
    } catch (error) {
      const verdict = verdictOf(error);
      if (verdict === "condition") {
        contention.met();
      } else if (verdict === "no-blob") {
        this.#task.forget(tail);
      } else if (verdict === "full") {
        tail.close();
      } else if (verdict === "lost" && isCommit && this.#looksForLost < MOST_LOOKS) {
        this.#looksForLost += 1;
      } else {
        throw error;
      }
      return undefined;
    }
  }
}
