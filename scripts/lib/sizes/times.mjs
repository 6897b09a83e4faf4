import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { failure, run } from "../run.mjs";
import { importLimitMs } from "./limits.mjs";

const program = `const start = process.cpuUsage();
for (const specifier of process.argv.slice(2)) await import(specifier);
const { user, system } = process.cpuUsage(start);
process.stdout.write(String((user + system) / 1000));
process.exit(0);`;

/** How often every import is measured, the first time apart, which reads the files from the disk. */
export const measuredRounds = 11;

/**
 * What importing a package costs: milliseconds of processor time in fresh processes that take turns, because a clock would
 * tell what else the machine is doing. `{ importMs, emptyMs, withDriversMs, driversMs, moreMs, spreadMs }`: the import alone
 * beside an empty module, and the import with the drivers beside the drivers alone, as medians to a tenth. Without drivers
 * the second pair is the first. `moreMs` is the difference of the second pair, and `spreadMs` the two ends of the middle
 * half of that difference, round by round.
 */
export async function importTimes(folder, specifier, drivers, rounds = measuredRounds) {
  const main = join(folder, "timed.mjs");
  const empty = join(folder, "empty.mjs");
  writeFileSync(main, program);
  writeFileSync(empty, "export {};\n");
  const imports = { emptyMs: [pathToFileURL(empty).href], importMs: [specifier] };
  // The drivers last: what an import leaves running behind it, such as compiling, is counted to whatever follows, and an
  // empty module after a driver of 95 ms would be said to cost 11.
  if (drivers.length > 0) Object.assign(imports, { driversMs: drivers, withDriversMs: [specifier, ...drivers] });
  const measured = Object.fromEntries(Object.keys(imports).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, specifiers] of Object.entries(imports)) {
      const milliseconds = await timed(main, specifiers, folder);
      if (round > 0) measured[name].push(milliseconds);
    }
  }
  return summary({ driversMs: measured.emptyMs, withDriversMs: measured.importMs, ...measured });
}

function summary({ importMs, emptyMs, withDriversMs, driversMs }) {
  const middle = (values) => tenth(quantile(values, 0.5));
  const differences = withDriversMs.map((value, round) => value - driversMs[round]);
  const medians = { importMs: middle(importMs), emptyMs: middle(emptyMs) };
  const pair = { withDriversMs: middle(withDriversMs), driversMs: middle(driversMs) };
  const spreadMs = [tenth(quantile(differences, 0.25)), tenth(quantile(differences, 0.75))];
  // Of what is written, so that who reads it can add it up.
  return { ...medians, ...pair, moreMs: difference(pair), spreadMs };
}

/** What is wrong with the times of an entry, measured or read: they must add up and keep the promise. */
export function timeProblems(entry, times) {
  const { withDriversMs, driversMs, moreMs, spreadMs } = times;
  const expected = difference(times);
  if (moreMs !== expected)
    return [
      `${entry}: ${ms(withDriversMs)} with and ${ms(driversMs)} without it is ${ms(expected)} more, not ${ms(moreMs)}`,
    ];
  if (moreMs <= importLimitMs) return [];
  const spread =
    spreadMs === undefined ? "" : `, and half of the rounds were between ${spreadMs.map(ms).join(" and ")} more`;
  return [
    `${entry} costs ${ms(moreMs)} more than its drivers alone, and the promise is at most ${importLimitMs} ms: ` +
      `the medians are ${ms(withDriversMs)} with it and ${ms(driversMs)} without${spread}`,
  ];
}

async function timed(main, specifiers, cwd) {
  const { code, output } = await run(process.execPath, [main, ...specifiers], { cwd });
  const milliseconds = Number(output);
  if (code !== 0 || !(milliseconds > 0)) throw failure(`${specifiers.join(" ")} cannot be imported:\n${output}`);
  return milliseconds;
}

function difference({ withDriversMs, driversMs }) {
  return tenth(withDriversMs - driversMs);
}

function tenth(value) {
  return Math.round(value * 10) / 10;
}

function ms(value) {
  return `${value.toFixed(1)} ms`;
}

function quantile(values, part) {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (sorted.length - 1) * part;
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]];
  return low + (high - low) * (at - Math.floor(at));
}
