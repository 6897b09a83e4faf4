import { BenchmarkError } from "./errors.ts";

/** The middle value; between two middle values, their mean. @throws BenchmarkError without any value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) {
    throw new BenchmarkError("nothing was measured");
  }
  return (lower + upper) / 2;
}

/** How a contender compares with the raw one, over several runs. */
export interface Comparison {
  /** The median over the runs of the ratio within a run. */
  readonly ratio: number;
  readonly ratioMin: number;
  readonly ratioMax: number;
  /** The median over the runs of the difference within a run. */
  readonly difference: number;
}

/**
 * Compares what was measured in the same runs, run by run: what slows the machine down for a whole run slows both.
 *
 * @throws BenchmarkError when the two were not measured in the same runs.
 */
export function compare(values: readonly number[], raw: readonly number[]): Comparison {
  if (values.length !== raw.length) {
    throw new BenchmarkError("two contenders were measured in different runs");
  }
  const pairs = values.map((value, run) => [value, raw[run] ?? Number.NaN] as const);
  const ratios = pairs.map(([value, base]) => value / base);
  return {
    ratio: median(ratios),
    ratioMin: Math.min(...ratios),
    ratioMax: Math.max(...ratios),
    difference: median(pairs.map(([value, base]) => value - base)),
  };
}
