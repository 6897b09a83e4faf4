import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { type HistoryRecord, isAgentFrameworkError } from "@agentfw/core";
import { stateError } from "../errors.ts";
import type { Progress } from "../progress.ts";
import { type Chain, overLives } from "./chain.ts";
import { Tail } from "./tail.ts";
import { encodeTurn } from "./turn-form.ts";

/** What is to be added, and how far it has come. */
export interface Append {
  readonly records: readonly HistoryRecord[];
  readonly ifVersion: string | undefined;
  readonly progress: Progress;
}

/** What an append did. */
export interface Appended {
  readonly version: string;
  readonly appended: number;
}

/** Remembers ends between appends. What it gives may be out of date. */
export interface TailMemory {
  get(): Tail | undefined;
  keep(tail: Tail | undefined): void;
}

const LONGEST_PAUSE_MS = 100;

/** Adds one turn to a conversation, as soon as no other writer comes first. */
export function append(chain: Chain, given: Append, memory: TailMemory): Promise<Appended> {
  return overLives(async () => {
    for (let attempt = 0; ; attempt += 1) {
      given.progress.assertWanted();
      const tail = await currentTail(chain, given, memory);
      const fresh = given.records.filter(({ id }) => tail?.isKnown(id) !== true);
      if (fresh.length === 0) {
        return { version: tail?.version ?? "", appended: 0 };
      }
      assertVersion(tail?.version ?? "", given.ifVersion);
      const appended = await tryOnce(chain, tail, fresh, { ...given, memory });
      if (appended !== undefined) {
        return appended;
      }
      memory.keep(tail !== undefined && (await catchUp(chain, tail)) ? tail : undefined);
      // Writers that met once would meet again at every attempt if each of them started over at once.
      await pause(Math.random() * Math.min(2 ** attempt, LONGEST_PAUSE_MS));
    }
  });
}

/** The end, as fresh as is needed: a turn that is about to be created is judged by the store. */
async function currentTail(
  chain: Chain,
  { records, ifVersion }: Append,
  memory: TailMemory,
): Promise<Tail | undefined> {
  const known = memory.get();
  const needsAll = ifVersion !== undefined || records.every(({ id }) => known?.isKnown(id));
  if (known === undefined) {
    return loadTail(chain, memory);
  }
  if (needsAll) {
    const [head, behind] = await Promise.all([chain.head(), chain.behind(known.life, known.turn)]);
    if (head?.life !== known.life) {
      memory.keep(undefined);
      return loadTail(chain, memory);
    }
    for (const turn of behind) {
      known.add(turn);
    }
  }
  return known;
}

async function loadTail(chain: Chain, memory: TailMemory): Promise<Tail | undefined> {
  const [head, listed] = await Promise.all([chain.head(), chain.listed()]);
  if (head === undefined) {
    return undefined;
  }
  const tail = await Tail.load(chain, head.life, listed(head.life));
  memory.keep(tail);
  return tail;
}

/** Reads what others have added; false when there is nothing, so that something else came in between. */
async function catchUp(chain: Chain, tail: Tail): Promise<boolean> {
  const behind = await chain.behind(tail.life, tail.turn);
  for (const turn of behind) {
    tail.add(turn);
  }
  return behind.length > 0;
}

/** Tries to be the next turn; `undefined` when somebody else was. */
async function tryOnce(
  chain: Chain,
  known: Tail | undefined,
  fresh: readonly HistoryRecord[],
  { progress, memory }: Append & { readonly memory: TailMemory },
): Promise<Appended | undefined> {
  // Refused before anything is written, the head included.
  const writer = randomBytes(12).toString("base64url");
  const value = encodeTurn(fresh, writer, known?.idsToCarry);
  const tail = known ?? (await beginLife(chain, progress));
  if (tail === undefined) {
    return undefined;
  }
  const turn = { records: fresh, writer, known: "known" in value ? tail.idsToCarry : undefined };
  const number = tail.turn + 1;
  if (!(await createTurn(chain, { life: tail.life, number, writer, value }, progress))) {
    return undefined;
  }
  if (!(await isInLife(chain, tail.life))) {
    // The turn hangs under a life that is over, where nobody sees it. The append comes after the clear.
    await chain.deleteTurn(tail.life, number);
    progress.hasChanged = false;
    return undefined;
  }
  tail.add(turn);
  memory.keep(tail);
  return { version: tail.version, appended: fresh.length };
}

async function beginLife(chain: Chain, progress: Progress): Promise<Tail | undefined> {
  progress.assertWanted();
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
async function createTurn(chain: Chain, next: NextTurn, progress: Progress): Promise<boolean> {
  const { life, number, writer, value } = next;
  for (let attempt = 0; ; attempt += 1) {
    progress.assertWanted();
    progress.hasChanged = true;
    try {
      await chain.createTurn(life, number, value);
      return true;
    } catch (error) {
      if (isAgentFrameworkError(error, "conflict")) {
        const found = await chain.turn(life, number);
        const isOwn = typeof found === "object" && found.writer === writer;
        progress.hasChanged = isOwn;
        return isOwn;
      }
      if (!isAgentFrameworkError(error, "outcome_unknown")) {
        progress.hasChanged = attempt > 0;
        throw error;
      }
    }
    await pause(Math.min(10 * 2 ** attempt, LONGEST_PAUSE_MS));
  }
}

/** Whether the life goes on. That it cannot be told leaves the turn written, and the caller must know. */
async function isInLife(chain: Chain, life: string): Promise<boolean> {
  try {
    return (await chain.head())?.life === life;
  } catch (cause) {
    throw stateError("outcome_unknown", "append: written, but whether before or after a clear is not known", { cause });
  }
}

function assertVersion(version: string, ifVersion: string | undefined): void {
  if (ifVersion !== undefined && ifVersion !== version) {
    throw stateError("conflict", "append: another writer came first", { currentVersion: version });
  }
}
