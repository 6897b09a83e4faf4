import { functionResults, groupMessages, type Message, type Run } from "@agentfw/core";
import type { Interruption } from "./abortable.ts";
import type { AgentUpdate } from "./response.ts";
import type { RunRequest } from "./run-request.ts";
import type { Emit } from "./update-channel.ts";

/** How often a run is tried in all, each attempt to store an unchanged answer included. */
export const MAX_ATTEMPTS = 3;

/** Longest wait before the second attempt, in milliseconds; twice as long before the next. */
const WAIT_MS = 50;

/** The attempts that a run has left. */
export class ConflictAttempts {
  readonly #interruption: Interruption;
  #made = 1;

  constructor(interruption: Interruption) {
    this.#interruption = interruption;
  }

  /**
   * Waits, for a random time so that losers do not meet again, and counts an attempt. False when all are used up.
   *
   * @throws the abort reason.
   */
  async next(): Promise<boolean> {
    if (this.#made >= MAX_ATTEMPTS) {
      return false;
    }
    const waitMs = Math.random() * WAIT_MS * 2 ** (this.#made - 1);
    this.#made += 1;
    await this.race(() => new Promise((resolve) => setTimeout(resolve, waitMs)));
    return true;
  }

  /** What belongs to an attempt, unless the run is given up first. @throws the abort reason. */
  race<T>(start: () => Promise<T>): Promise<T> {
    return this.#interruption.race(start);
  }
}

/** The pieces of one attempt: handed on as they come, or held back until the attempt counts. */
export class AttemptPieces {
  readonly #emit: Emit<AgentUpdate>;
  readonly #held: AgentUpdate[] | undefined;
  #isShown = false;

  constructor(emit: Emit<AgentUpdate>, isHeldBack: boolean) {
    this.#emit = emit;
    this.#held = isHeldBack ? [] : undefined;
  }

  /** True when a piece is out and cannot be taken back. */
  get isShown(): boolean {
    return this.#isShown;
  }

  emit(update: AgentUpdate): Promise<void> | void {
    if (this.#held !== undefined) {
      this.#held.push(update);
      return;
    }
    this.#isShown = true;
    return this.#emit(update);
  }

  /** Hands on what was held back, when its turn is stored and the conversation is free for the next run. */
  async release(emit: Emit<AgentUpdate>): Promise<void> {
    for (const update of this.#held ?? []) {
      await emit(update);
    }
  }
}

/** What forbids another attempt, if anything does; `isAnswered` when it would call neither the model nor a tool. */
export function obstacleToRepeat(run: Run, pieces: AttemptPieces, isAnswered: boolean): string | undefined {
  if (!isAnswered && run.produced.some((message) => functionResults(message).length > 0)) {
    return "a tool has run";
  }
  return pieces.isShown ? "a reader has seen a part of the answer" : undefined;
}

/**
 * Whether a run makes sense without its history: a named one may have happened before, and an answer to a stored call
 * or request would answer nothing.
 */
export function mayLackHistory(request: RunRequest, input: readonly Message[]): boolean {
  const isContinued = request.onLoadFailure === "continue" && !request.isNamed;
  const answers = ({ contents }: Message) => contents.some(({ type }) => type === "function_approval_response");
  return isContinued && !input.some(answers) && groupMessages(input).orphans.length === 0;
}
