import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { failure, run } from "../run.mjs";

const program = `const start = process.cpuUsage();
for (const specifier of process.argv.slice(2)) await import(specifier);
const { user, system } = process.cpuUsage(start);
process.stdout.write(String((user + system) / 1000));
process.exit(0);`;

/**
 * What importing a package costs, and importing its drivers alone, or an empty module where it has none: milliseconds of
 * processor time in fresh processes that take turns, because a clock would tell what else the machine is doing.
 * `{ packageMs, driverMs, differenceMs }`, medians over the rounds.
 */
export async function importTimes(folder, specifier, drivers, rounds = 11) {
  const main = join(folder, "timed.mjs");
  const empty = join(folder, "empty.mjs");
  writeFileSync(main, program);
  writeFileSync(empty, "export {};\n");
  const alone = drivers.length > 0 ? drivers : [pathToFileURL(empty).href];
  const pairs = [];
  for (let round = 0; round <= rounds; round += 1) {
    const driverMs = await timed(main, alone, folder);
    const packageMs = await timed(main, [specifier], folder);
    // The first round reads the files from the disk.
    if (round > 0) pairs.push({ driverMs, packageMs, differenceMs: packageMs - driverMs });
  }
  const names = ["packageMs", "driverMs", "differenceMs"];
  return Object.fromEntries(names.map((name) => [name, median(pairs.map((pair) => pair[name]))]));
}

async function timed(main, specifiers, cwd) {
  const { code, output } = await run(process.execPath, [main, ...specifiers], { cwd });
  const milliseconds = Number(output);
  if (code !== 0 || !(milliseconds > 0)) throw failure(`${specifiers.join(" ")} cannot be imported:\n${output}`);
  return milliseconds;
}

function median(values) {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
