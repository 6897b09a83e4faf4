import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Measured, measureSideBySide, type Plan } from "./blocks.ts";
import { BenchmarkError } from "./errors.ts";
import type { JobContext, ShownRow } from "./measurement.ts";
import type { Selected } from "./options.ts";
import type { Random } from "./random.ts";
import { compare, median } from "./statistics.ts";

/** What a measurement is made with. */
export interface MeasureOptions extends Omit<JobContext, "directory"> {
  readonly plan: Plan;
  readonly random: Random;
  /** Where folders for the jobs may be made. */
  readonly scratch: string;
}

/** Opens a job, measures its contenders and closes it. */
export async function measure({ backend, job }: Selected, options: MeasureOptions): Promise<ShownRow[]> {
  const open = backend.jobs[job];
  if (open === undefined) {
    throw new BenchmarkError(`${backend.name} has no job ${job}`);
  }
  await mkdir(options.scratch, { recursive: true });
  const directory = await mkdtemp(join(options.scratch, "job-"));
  try {
    const opened = await open({ sizes: options.sizes, peers: options.peers, directory });
    try {
      return rows({ backend, job }, await measureSideBySide(opened.contenders, options.plan, options.random));
    } finally {
      for (const contender of opened.contenders) {
        await contender.close?.();
      }
      await opened.close?.();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function rows({ backend, job }: Selected, measured: readonly Measured[]): ShownRow[] {
  const raw = measured.find(({ contender }) => contender === "raw");
  if (raw === undefined) {
    throw new BenchmarkError(`${backend.name}/${job} has no raw contender to compare with`);
  }
  return measured.map(({ contender, runMedians, roundTrips, logBytes }) => {
    const { ratio, ratioMin, ratioMax, difference } = compare(runMedians, raw.runMedians);
    return {
      backend: backend.name,
      job,
      contender,
      medianMicroseconds: rounded(median(runMedians)),
      ratioToRaw: rounded(ratio),
      ratioMin: rounded(ratioMin),
      ratioMax: rounded(ratioMax),
      roundTrips: roundTrips === undefined ? null : rounded(roundTrips),
      logBytes: logBytes === undefined ? null : Math.round(logBytes),
      aboveRawMicroseconds: rounded(difference),
    };
  });
}

/** Three decimals: what is behind them is noise. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
