import type { HistoryPage, HistoryRecord, ReadOptions } from "@agentfw/core";
import { stateError } from "../errors.ts";
import { type Chain, type ListedTurns, missingTurn, overLives, type Stored } from "./chain.ts";
import { type Edge, encodeEdge, type LifeEdge } from "./cursors.ts";
import { versionOf } from "./tail.ts";

/** How many turns are asked for at once. */
const BATCH = 16;

/** Which page of a conversation. Checked. */
export interface ReadPage extends Pick<ReadOptions, "last" | "withFirst" | "onCorrupt"> {
  readonly before: LifeEdge | undefined;
}

/** What one read works with. */
interface Reading {
  readonly chain: Chain;
  readonly life: string;
  readonly page: ReadPage;
  readonly recordCounts: ReadonlyMap<number, number>;
  /** Turns that were read on the way. */
  readonly turns: Map<number, Stored>;
  readonly corrupt: Set<string>;
}

/** Reads a page, starting over when a clear comes in between. */
export function read(chain: Chain, page: ReadPage): Promise<HistoryPage> {
  const { before } = page;
  return overLives(async () => {
    const [head, listed] = await Promise.all([chain.head(), chain.listed()]);
    if (head === undefined) {
      return emptyPage(before !== undefined);
    }
    const { life } = head;
    const reading = readingOf(chain, life, page, listed(life));
    const end = await findEnd(reading, listed(life).newest);
    if (end === 0) {
      return emptyPage(before !== undefined);
    }
    if (before !== undefined && (before.life !== life || before.turn > end + 1)) {
      throw notStored();
    }
    const { records, start } = await collect(reading, before ?? { turn: end + 1, index: 0 });
    const first = page.withFirst ? await firstRecord(reading) : undefined;
    const isAtStart = start.turn === 1 && start.index === 0;
    return {
      records,
      version: versionOf(life, end),
      ...(isAtStart ? {} : { older: encodeEdge({ life, ...start }) }),
      ...(first === undefined ? {} : { first }),
      ...(reading.corrupt.size === 0 ? {} : { corrupt: [...reading.corrupt] }),
    };
  });
}

function readingOf(chain: Chain, life: string, page: ReadPage, { recordCounts }: ListedTurns): Reading {
  return { chain, life, page, recordCounts, turns: new Map(), corrupt: new Set() };
}

/** The newest turn: a listing is a hint, and the store is asked for the one behind it. */
async function findEnd({ chain, life, turns }: Reading, newest: number): Promise<number> {
  const behind = await chain.behind(life, newest);
  for (const [index, turn] of behind.entries()) {
    turns.set(newest + 1 + index, turn);
  }
  return newest + behind.length;
}

/** Records from an edge backwards, as many as are asked for. */
async function collect(
  reading: Reading,
  edge: Edge,
): Promise<{ readonly records: HistoryRecord[]; readonly start: Edge }> {
  const { last = Number.POSITIVE_INFINITY } = reading.page;
  const newestFirst: HistoryRecord[][] = [];
  let missing = last;
  let start = edge;
  while (missing > 0 && (start.turn > 1 || start.index > 0)) {
    // An edge inside of a turn: its records before the edge come first.
    const newest = start.index > 0 ? start.turn : start.turn - 1;
    const oldest = oldestOf(reading, newest, missing);
    await fetchTurns(reading, oldest, newest);
    for (let turn = newest; turn >= oldest && missing > 0; turn -= 1) {
      const all = recordsOf(reading, turn);
      const own = start.turn === turn ? all.slice(0, start.index) : all;
      const taken = own.slice(Math.max(0, own.length - missing));
      newestFirst.push(taken);
      missing -= taken.length;
      start = { turn, index: own.length - taken.length };
    }
  }
  return { records: newestFirst.reverse().flat(), start };
}

/** How far back to read at once: as far as the records that are missing, where it is known how many a turn has. */
function oldestOf({ recordCounts }: Reading, newest: number, missing: number): number {
  let oldest = newest;
  let records = recordCounts.get(newest) ?? 1;
  while (oldest > 1 && newest - oldest + 1 < BATCH && records < missing) {
    oldest -= 1;
    records += recordCounts.get(oldest) ?? 1;
  }
  return oldest;
}

async function fetchTurns({ chain, life, turns }: Reading, oldest: number, newest: number): Promise<void> {
  const found = await chain.turns(life, oldest, newest);
  for (const [index, turn] of found.entries()) {
    const number = oldest + index;
    if (turn !== undefined) {
      turns.set(number, turn);
    } else if (!turns.has(number)) {
      await chain.assertLife(life);
      throw missingTurn(number);
    }
  }
}

/** A turn's records; none, and a note, where it cannot be read and that is to be skipped. */
function recordsOf({ turns, corrupt, page }: Reading, number: number): readonly HistoryRecord[] {
  const turn = turns.get(number);
  if (turn === undefined || turn === "corrupt") {
    const position = `turn ${number}`;
    if (page.onCorrupt !== "skip") {
      throw stateError("corrupt", "read: a turn of the conversation cannot be read", { position });
    }
    corrupt.add(position);
    return [];
  }
  return turn.records;
}

async function firstRecord(reading: Reading): Promise<HistoryRecord | undefined> {
  if (!reading.turns.has(1)) {
    await fetchTurns(reading, 1, 1);
  }
  return recordsOf(reading, 1)[0];
}

function emptyPage(hasCursor: boolean): HistoryPage {
  if (hasCursor) {
    throw notStored();
  }
  return { records: [], version: "" };
}

function notStored(): Error {
  return stateError("conflict", "before: names a place that is no longer stored");
}
