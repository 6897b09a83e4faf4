import type { HistoryPage, HistoryRecord, ReadOptions } from "@agentfw/core";
import { stateError } from "../errors.ts";
import { inParallel } from "../in-parallel.ts";
import { type Chain, missingTurn, overLives, type Stored } from "./chain.ts";
import type { Edge, LifeEdge } from "./cursors.ts";
import { range } from "./range.ts";
import { versionOf } from "./tail.ts";

/** How many turns are asked for at once. */
const BATCH = 16;

/** Which page of a conversation. Checked. */
export interface ReadPage extends Pick<ReadOptions, "last" | "withFirst" | "onCorrupt"> {
  readonly before: LifeEdge | undefined;
}

/** A page, and where it begins unless that is the beginning of the conversation. */
export interface ReadResult extends Omit<HistoryPage, "older"> {
  readonly start?: LifeEdge;
}

/** What one read works with. */
interface Reading {
  readonly chain: Chain;
  readonly life: string;
  readonly onCorrupt: ReadOptions["onCorrupt"];
  /** How many records a turn has, as far as a listing tells. */
  readonly recordCounts: ReadonlyMap<number, number>;
  /** Turns that were read on the way. */
  readonly turns: Map<number, Stored>;
  readonly corrupt: Set<string>;
}

/** Reads a page, starting over when a clear comes in between. */
export function read(
  chain: Chain,
  { before, last = Number.POSITIVE_INFINITY, withFirst, onCorrupt }: ReadPage,
): Promise<ReadResult> {
  return overLives(async () => {
    const [head, newestTurns] = await Promise.all([chain.head(), chain.newestTurns()]);
    const life = head?.life ?? "";
    const listed = newestTurns(life);
    const newest = listed[0]?.turn ?? 0;
    // A listing is a hint, and the store is asked for the turn behind it.
    const behind = head === undefined ? [] : await chain.behind(life, newest);
    const end = newest + behind.length;
    if (before !== undefined && (end === 0 || before.life !== life || before.turn > end + 1)) {
      throw stateError("conflict", "before: names a place that is no longer stored");
    }
    const reading: Reading = {
      chain,
      life,
      onCorrupt,
      recordCounts: new Map(listed.map(({ turn, tags }) => [turn, Number(tags["records"] ?? 1)])),
      turns: new Map(behind.map((turn, index) => [newest + 1 + index, turn])),
      corrupt: new Set(),
    };
    const { records, start } = await collect(reading, before ?? { turn: end + 1, index: 0 }, last);
    const first = withFirst && end > 0 ? (await recordsOf(reading, 1))[0] : undefined;
    return {
      records,
      version: versionOf(life, end),
      ...(isBeginning(start) ? {} : { start: { life, ...start } }),
      ...(first === undefined ? {} : { first }),
      ...(reading.corrupt.size === 0 ? {} : { corrupt: [...reading.corrupt] }),
    };
  });
}

function isBeginning({ turn, index }: Edge): boolean {
  return turn <= 1 && index === 0;
}

/** Records from an edge backwards, as many as are asked for. */
async function collect(
  reading: Reading,
  edge: Edge,
  last: number,
): Promise<{ readonly records: HistoryRecord[]; readonly start: Edge }> {
  const newestFirst: (readonly HistoryRecord[])[] = [];
  let missing = last;
  let start = edge;
  while (missing > 0 && !isBeginning(start)) {
    // An edge inside of a turn: its records before the edge come first.
    const newest = start.index > 0 ? start.turn : start.turn - 1;
    const oldest = oldestOf(reading, newest, missing);
    await fetchTurns(reading, oldest, newest);
    for (let turn = newest; turn >= oldest && missing > 0; turn -= 1) {
      const all = await recordsOf(reading, turn);
      const own = start.turn === turn ? all.slice(0, start.index) : all;
      const index = Math.max(0, own.length - missing);
      newestFirst.push(own.slice(index));
      missing -= own.length - index;
      start = { turn, index };
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
  const unread = range(oldest, newest).filter((turn) => !turns.has(turn));
  await inParallel(unread, async (turn) => void turns.set(turn, await chain.existing(life, turn)));
}

/** A turn's records; none, and a note, where it cannot be read and that is to be skipped. */
async function recordsOf(reading: Reading, number: number): Promise<readonly HistoryRecord[]> {
  await fetchTurns(reading, number, number);
  const turn = reading.turns.get(number) ?? "missing";
  if (turn === "missing") {
    throw missingTurn(number);
  }
  if (turn !== "corrupt") {
    return turn.records;
  }
  const position = `turn ${number}`;
  if (reading.onCorrupt !== "skip") {
    throw stateError("corrupt", "read: a turn of the conversation cannot be read", { position });
  }
  reading.corrupt.add(position);
  return [];
}
