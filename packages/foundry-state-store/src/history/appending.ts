import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type HistoryRecord, isAgentFrameworkError } from "@agentfw/core";
import { stateError } from "../errors.ts";
import { type Chain, LifeEnded, overLives } from "./chain.ts";
import { Tail } from "./tail.ts";
import type { TailCache } from "./tail-cache.ts";
import { encodeTurn } from "./turn-form.ts";

/** What is to be added. */
export interface Append {
  readonly records: readonly HistoryRecord[];
  readonly ifVersion: string | undefined;
}

/** What an append did. */
export interface Appended {
  readonly version: string;
  readonly appended: number;
}

const LONGEST_PAUSE_MS = 100;

/** Adds one turn to a conversation, as soon as no other writer comes first. */
export function append(chain: Chain, { records, ifVersion }: Append, tails: TailCache): Promise<Appended> {
  const { hash } = chain.place;
  return overLives(async (isAgain) => {
    if (isAgain) {
      tails.forget(hash);
    }
    for (let attempt = 0; ; attempt += 1) {
      chain.progress.assertWanted();
      const known = tails.get(hash);
      // A turn that is about to be created is judged by the store. Nothing else judges what is only compared.
      const mustBeFresh = attempt > 0 || ifVersion !== undefined || records.every(({ id }) => known?.isKnown(id));
      if (known !== undefined && mustBeFresh) {
        await freshen(chain, known);
      }
      const tail = known ?? (await loadTail(chain));
      if (tail !== undefined) {
        tails.keep(hash, tail);
      }
      const version = tail?.version ?? "";
      const fresh = records.filter(({ id }) => tail?.isKnown(id) !== true);
      if (fresh.length === 0) {
        return { version, appended: 0 };
      }
      if (ifVersion !== undefined && ifVersion !== version) {
        throw stateError("conflict", "append: another writer came first", { currentVersion: version });
      }
      const after = await tryOnce(chain, tail, fresh);
      if (after !== undefined) {
        tails.keep(hash, after);
        return { version: after.version, appended: fresh.length };
      }
      // Writers that met once would meet again at every attempt if each of them started over at once.
      await pause(Math.random() * Math.min(2 ** attempt, LONGEST_PAUSE_MS));
    }
  });
}

/** Takes in what others have added. @throws {@link LifeEnded} when all of it was cleared */
async function freshen(chain: Chain, tail: Tail): Promise<void> {
  const [head, behind] = await Promise.all([chain.head(), chain.behind(tail.life, tail.turn)]);
  if (head?.life !== tail.life) {
    throw new LifeEnded();
  }
  for (const turn of behind) {
    tail.add(turn);
  }
}

async function loadTail(chain: Chain): Promise<Tail | undefined> {
  const [head, newestTurns] = await Promise.all([chain.head(), chain.newestTurns()]);
  return head && Tail.load(chain, head.life, newestTurns(head.life));
}

/** Tries to be the next turn, and gives the end behind it; `undefined` when somebody else was. */
async function tryOnce(
  chain: Chain,
  known: Tail | undefined,
  fresh: readonly HistoryRecord[],
): Promise<Tail | undefined> {
  // Refused before anything is written, the head included.
  const writer = randomBytes(12).toString("base64url");
  const value = encodeTurn(fresh, writer, known?.idsToCarry);
  const tail = known ?? (await beginLife(chain));
  if (tail === undefined) {
    return undefined;
  }
  const turn = { records: fresh, writer, known: "known" in value ? tail.idsToCarry : undefined };
  const number = tail.turn + 1;
  if (!(await createTurn(chain, { life: tail.life, number, writer, value }))) {
    return undefined;
  }
  // That this cannot be told leaves the turn written, and the caller will know.
  if ((await chain.head())?.life !== tail.life) {
    // The turn hangs under a life that is over, where nobody sees it. The append comes after the clear.
    await chain.deleteTurn(tail.life, number);
    chain.progress.hasChanged = false;
    return undefined;
  }
  tail.add(turn);
  return tail;
}

async function beginLife(chain: Chain): Promise<Tail | undefined> {
  try {
    return new Tail(await chain.begin());
  } catch (error) {
    // Somebody came first, or perhaps this call did and its answer was lost: the next look tells.
    if (isAgentFrameworkError(error, "conflict") || isAgentFrameworkError(error, "outcome_unknown")) {
      return undefined;
    }
    throw error;
  }
}

interface NextTurn {
  readonly life: string;
  readonly number: number;
  readonly writer: string;
  readonly value: ReturnType<typeof encodeTurn>;
}

/**
 * Creates a turn; false when another writer has. A create whose answer was lost is sent again: whatever became of the
 * first, the turn is then there, and says who wrote it.
 */
async function createTurn(chain: Chain, { life, number, writer, value }: NextTurn): Promise<boolean> {
  const { progress } = chain;
  for (let attempt = 0; ; attempt += 1) {
    try {
      await chain.createTurn(life, number, value);
      return true;
    } catch (error) {
      if (isAgentFrameworkError(error, "conflict")) {
        const found = await chain.turn(life, number);
        progress.hasChanged = typeof found === "object" && found.writer === writer;
        return progress.hasChanged;
      }
      if (!isAgentFrameworkError(error, "outcome_unknown")) {
        progress.hasChanged = attempt > 0;
        throw error;
      }
    }
    await pause(Math.min(10 * 2 ** attempt, LONGEST_PAUSE_MS));
  }
}
