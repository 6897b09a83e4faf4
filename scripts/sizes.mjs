// Weighs every entry of every packed package and compares it with docs/sizes.md. `--write` measures imports too and writes
// the table again, unless an import costs more than is promised; with `--keep-times` it leaves the times that stand there.
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
import { keepTimes, writeSizes } from "./lib/sizes/write.mjs";
import { root } from "./lib/workspace.mjs";

const file = join(root, "docs", "sizes.md");
const has = (flag) => process.argv.includes(flag);

function standing() {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

async function write() {
  const times = !has("--keep-times");
  const measured = await measureSizes({ times, report: times ? say : undefined });
  const old = readSizes(standing());
  const rows = times ? measured : keepTimes(measured, old.rows);
  writeSizes(file, rows, times ? `Node ${process.versions.node}, ${platform()}, ${arch()}` : old.machine);
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
