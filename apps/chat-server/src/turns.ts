import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import {
  AgentFrameworkError,
  type AgentSession,
  isAgentFrameworkError,
  isPlainObject,
  type SessionStore,
} from "@agentfw/core";
import { HttpProblem, noSuchChat } from "./errors.ts";

/** How replicas take turns. */
export interface TurnLimits {
  /** How long a chat waits for a replica that died in the middle of a turn. 0: replicas do not wait for each other. */
  readonly leaseMs: number;
  /** How long a turn waits for the one before it. */
  readonly waitMs: number;
}

/** The right to run on a chat. */
export interface Turn {
  readonly session: AgentSession;
  /**
   * Fires when the run is to be given up: it was asked for, or the right was lost, because the chat was deleted or
   * another replica took this one for dead.
   */
  readonly signal: AbortSignal;
  /**
   * Ends the turn, and lets `change` note in the session what came of it, over what others noted meanwhile.
   *
   * @throws `not_found` when the chat was deleted.
   */
  end(change: (session: AgentSession) => void): Promise<void>;
}

/**
 * One run at a time on one chat, at all replicas: whoever runs is named in the chat's session, which only one of them
 * can be the first to save, and renews that while it runs. Without this a second run would take a tool that the first
 * one is running for one that was cut off.
 *
 * It is about time, so it can fail: clocks of replicas may differ, a process may stand still. What is stored stays right
 * even then, because the history is only ever added to as it was loaded (`conditionalAppend`).
 */
export class Turns {
  readonly #sessions: SessionStore;
  readonly #limits: TurnLimits;

  constructor(sessions: SessionStore, limits: TurnLimits) {
    this.#sessions = sessions;
    this.#limits = limits;
  }

  /** Waits for the chat. @throws HttpProblem 404 when there is none, 409 when it does not get free; the abort reason. */
  async take(owner: string, id: string, signal: AbortSignal): Promise<Turn> {
    const { leaseMs, waitMs } = this.#limits;
    const me = randomUUID();
    const deadline = Date.now() + waitMs;
    for (;;) {
      const session = await this.#sessions.load(id, { owner, signal });
      if (session === undefined) {
        throw noSuchChat();
      }
      if (leaseMs === 0 || (isFree(session) && (await this.#isFirst(session, me, signal)))) {
        return this.#begun(session, me, signal);
      }
      if (Date.now() > deadline) {
        throw new HttpProblem(409, "busy", "Another message of this chat is being answered.", { retryAfterSeconds: 2 });
      }
      await pause(20 + Math.random() * 80, undefined, { signal });
    }
  }

  /** Of all that saw the chat free, the one that saves the session first has it. */
  async #isFirst(session: AgentSession, me: string, signal: AbortSignal): Promise<boolean> {
    session.state["turn"] = { holder: me, until: Date.now() + this.#limits.leaseMs };
    try {
      await this.#sessions.save(session, { signal });
      return true;
    } catch (error) {
      if (isAgentFrameworkError(error, "conflict")) {
        return false;
      }
      throw error;
    }
  }

  #begun(session: AgentSession, me: string, signal: AbortSignal): Turn {
    const { leaseMs } = this.#limits;
    const run = new AbortController();
    const { owner, sessionId } = session;
    const change = async (work: (stored: AgentSession) => void) =>
      void (await this.#sessions.update(sessionId, { owner }, work));
    const renew = () =>
      change((stored) => {
        if (turnOf(stored)?.holder !== me) {
          throw new AgentFrameworkError("conflict", "the chat went to another replica");
        }
        stored.state["turn"] = { holder: me, until: Date.now() + leaseMs };
      }).catch((error: unknown) => {
        // An outage is no loss yet; the next renewal may succeed.
        if (isAgentFrameworkError(error, "not_found") || isAgentFrameworkError(error, "conflict")) {
          run.abort(error);
        }
      });
    const timer = leaseMs === 0 ? undefined : setInterval(() => void renew(), leaseMs / 3);
    // A run that was given up is about to end, and one that nobody ends must not hold its chat.
    const giveUp = () => {
      clearInterval(timer);
      run.abort(signal.reason);
    };
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) {
      giveUp();
    }
    return {
      session,
      signal: run.signal,
      end: async (note) => {
        signal.removeEventListener("abort", giveUp);
        clearInterval(timer);
        await change((stored) => {
          note(stored);
          if (turnOf(stored)?.holder === me) {
            delete stored.state["turn"];
          }
        });
      },
    };
  }
}

/** Whose turn it is in a chat, also when its time is over. */
function turnOf({ state }: AgentSession): { readonly holder: unknown; readonly until: number } | undefined {
  const turn = state["turn"];
  return isPlainObject(turn) ? { holder: turn["holder"], until: Number(turn["until"]) } : undefined;
}

function isFree(session: AgentSession): boolean {
  const turn = turnOf(session);
  return turn === undefined || !(turn.until >= Date.now());
}
