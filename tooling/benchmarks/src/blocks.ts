import type { Contender, Operation } from "./measurement.ts";
import { type Random, shuffled } from "./random.ts";
import { median } from "./statistics.ts";

/** How much is measured. */
export interface Plan {
  /** Ratios are compared over so many runs. */
  readonly runs: number;
  /** Blocks of each contender in a run. */
  readonly blocks: number;
  /** Samples of each contender in a run, for what is timed elsewhere. */
  readonly samples: number;
  /** What a block of operations should take, in milliseconds. */
  readonly blockMs: number;
  /** How long a contender is run at most before it is measured, in milliseconds, until it gets no faster. */
  readonly warmUpMs: number;
}

/** What was measured of one contender. */
export interface Measured {
  readonly contender: string;
  /** Microseconds of one operation: the median over the blocks, for each run. */
  readonly runMedians: readonly number[];
  readonly roundTrips: number | undefined;
}

interface Entry {
  readonly contender: Contender;
  /** Operations in a block. */
  count: number;
  readonly blocks: number[];
  readonly runMedians: number[];
}

/**
 * Measures contenders side by side, after all of them have been warmed up. Within a run they take turns, each once a
 * round, in an order that is drawn anew for every round; before each block, what the last one left is collected.
 */
export async function measureSideBySide(
  contenders: readonly Contender[],
  plan: Plan,
  random: Random,
): Promise<Measured[]> {
  const entries = contenders.map((contender): Entry => ({ contender, count: 1, blocks: [], runMedians: [] }));
  collect("major");
  for (const entry of shuffled(entries, random)) {
    entry.count = await warmUp(entry.contender, plan);
  }
  for (let run = 0; run < plan.runs; run += 1) {
    for (let round = 0; round < Math.max(plan.blocks, plan.samples); round += 1) {
      const inTurn = entries.filter(({ contender }) => round < ("sample" in contender ? plan.samples : plan.blocks));
      for (const entry of shuffled(inTurn, random)) {
        await addBlock(entry);
      }
    }
    for (const { blocks, runMedians } of entries) {
      runMedians.push(median(blocks.splice(0)));
    }
  }
  const measured: Measured[] = [];
  for (const { contender, runMedians } of entries) {
    measured.push({ contender: contender.name, runMedians, roundTrips: await roundTripsOf(contender) });
  }
  return measured;
}

/**
 * Collects garbage, if Node lets us. A major collection also throws away compiled code whose objects are all gone, so a
 * block right behind it would measure the compiler; between blocks only young objects are collected.
 */
function collect(type: "major" | "minor"): void {
  globalThis.gc?.({ type });
}

/** Apart from what is timed, because counting costs time. */
async function roundTripsOf(contender: Contender): Promise<number | undefined> {
  if ("sample" in contender || contender.countRoundTrips === undefined) {
    return undefined;
  }
  await contender.prepare?.();
  return contender.countRoundTrips();
}

async function addBlock(entry: Entry): Promise<void> {
  const { contender, count } = entry;
  if ("sample" in contender) {
    entry.blocks.push(await contender.sample());
    return;
  }
  await contender.prepare?.();
  collect("minor");
  const milliseconds = await timed(contender, count);
  entry.blocks.push((milliseconds * 1000) / count);
}

async function timed({ operation }: Operation, count: number): Promise<number> {
  const start = performance.now();
  for (let index = 0; index < count; index += 1) {
    const outcome = operation();
    if (outcome instanceof Promise) {
      await outcome;
    }
  }
  return performance.now() - start;
}

/** Blocks that are compared with as many before them, to tell whether a contender is warm. */
const COMPARED_BLOCKS = 10;

/** Runs a contender until it gets no faster, then tells how many of its operations fit a block. */
async function warmUp(contender: Contender, { warmUpMs, blockMs }: Plan): Promise<number> {
  if ("sample" in contender) {
    return 1;
  }
  const most = contender.maxOperations ?? 10_000;
  const start = performance.now();
  const times: number[] = [];
  let count = 1;
  do {
    await contender.prepare?.();
    const milliseconds = await timed(contender, count);
    times.push(milliseconds / count);
    const fitting = Math.floor((blockMs * count) / Math.max(milliseconds, 0.001));
    // Growing step by step: the first operation of all is many times slower than those that follow.
    count = Math.max(1, Math.min(most, fitting, count * 4));
  } while (performance.now() - start < warmUpMs && !isWarm(times));
  return count;
}

function isWarm(times: readonly number[]): boolean {
  const before = times.slice(-2 * COMPARED_BLOCKS, -COMPARED_BLOCKS);
  return before.length === COMPARED_BLOCKS && median(times.slice(-COMPARED_BLOCKS)) > 0.95 * median(before);
}
