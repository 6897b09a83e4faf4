// Weighs every entry of every packed package and compares it with docs/sizes.md. `--write` measures imports too and writes
// the table again, unless an import costs more than is promised; with `--keep-times` it measures only what is not what it was.
import "./lib/require-node.mjs";
import { existsSync, readFileSync } from "node:fs";
import { arch, platform } from "node:os";
import { join } from "node:path";
import { prepare, step } from "./lib/gate.mjs";
import { main } from "./lib/main.mjs";
import { failure, say } from "./lib/run.mjs";
import { sizeProblems } from "./lib/sizes/compare.mjs";
import { exceptions } from "./lib/sizes/limits.mjs";
import { measureSizes } from "./lib/sizes/measure.mjs";
import { readSizes } from "./lib/sizes/read-table.mjs";
import { hasTimesOf, writeSizes } from "./lib/sizes/write.mjs";
import { root } from "./lib/workspace.mjs";

const file = join(root, "docs", "sizes.md");
const has = (flag) => process.argv.includes(flag);

function standing() {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

async function write() {
  const old = readSizes(standing());
  const machine = `Node ${process.versions.node}, ${platform()}, ${arch()}`;
  const kept = has("--keep-times") && old.machine === machine ? old.rows : new Map();
  const needsTimes = (row) => !hasTimesOf(row, kept.get(row.entry));
  const measured = await measureSizes({ needsTimes, report: say });
  const rows = measured.map((row) => (row.isMain ? { ...row, times: row.times ?? kept.get(row.entry).times } : row));
  writeSizes(file, rows, machine);
  // The table holds what is true; whether that is allowed is said here too.
  return problemsOf(measured);
}

function problemsOf(measured) {
  const { rows, problems } = readSizes(standing());
  return [...problems, ...sizeProblems(measured, rows, exceptions)];
}

async function check() {
  const rows = await measureSizes();
  for (const { entry, bytes, limit } of rows)
    process.stdout.write(`${entry}: ${bytes}${limit === undefined ? "" : ` of at most ${limit}`} bytes\n`);
  const problems = problemsOf(rows);
  return problems.length === 0 ? [] : [...problems, "npm run sizes -- --write says again what is true"];
}

await main(async () => {
  // Called by the gate, everything is packed already.
  if (!has("--packed") && !(await step("build and pack", packAll))) throw failure("Nothing could be measured.");
  const problems = await (has("--write") ? write() : check());
  if (problems.length > 0) throw failure(problems.join("\n"));
});

async function packAll() {
  return (await prepare()).turbo("check:pack");
}
