import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { failure, run } from "../run.mjs";

const program = `const start = performance.now();
for (const specifier of process.argv.slice(2)) await import(specifier);
process.stdout.write(String(performance.now() - start));
process.exit(0);`;

/**
 * Times the import of a package, and of its drivers alone, each in fresh processes that take turns, so that what slows
 * the machine slows both. `{ packageMs, driverMs, differenceMs }`, medians over the rounds.
 */
export async function importTimes(folder, specifier, drivers, rounds = 11) {
  const main = join(folder, "timed.mjs");
  writeFileSync(main, program);
  const pairs = [];
  for (let round = 0; round <= rounds; round += 1) {
    const driverMs = await timed(main, drivers, folder);
    const packageMs = await timed(main, [specifier], folder);
    // The first round reads the files from the disk.
    if (round > 0) pairs.push({ driverMs, packageMs, differenceMs: packageMs - driverMs });
  }
  const names = ["packageMs", "driverMs", "differenceMs"];
  return Object.fromEntries(names.map((name) => [name, median(pairs.map((pair) => pair[name]))]));
}

async function timed(main, specifiers, cwd) {
  const { code, output } = await run(process.execPath, [main, ...specifiers], { cwd });
  if (code !== 0 || !(Number(output) >= 0)) throw failure(`${specifiers.join(" ")} cannot be imported:\n${output}`);
  return Number(output);
}

function median(values) {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
