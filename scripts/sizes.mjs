// Weighs every entry of every packed package and compares it with docs/sizes.md. `--write` measures imports too and writes
// the table again; with `--keep-times` it leaves the times that stand there.
import "./lib/require-node.mjs";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { arch, platform } from "node:os";
import { join } from "node:path";
import { prepare, step } from "./lib/gate.mjs";
import { main } from "./lib/main.mjs";
import { failure, say } from "./lib/run.mjs";
import { sizeProblems } from "./lib/sizes/compare.mjs";
import { exceptions } from "./lib/sizes/limits.mjs";
import { measureSizes } from "./lib/sizes/measure.mjs";
import { parseSizes, renderSizes } from "./lib/sizes/table.mjs";
import { root } from "./lib/workspace.mjs";

const file = join(root, "docs", "sizes.md");
const has = (flag) => process.argv.includes(flag);

function standing() {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

async function write() {
  const times = !has("--keep-times");
  const rows = await measureSizes({ times, report: times ? say : undefined });
  const old = standing();
  const machine = times ? `Node ${process.versions.node}, ${platform()}, ${arch()}` : machineOf(old);
  if (!times) for (const row of rows) row.times = parseSizes(old).get(row.entry)?.times;
  writeFileSync(file, renderSizes(rows, machine));
  // The table holds what is true; whether that is allowed is said here too.
  return sizeProblems(rows, parseSizes(standing()), exceptions);
}

function machineOf(text) {
  return /not tested: (.*)\.$/m.exec(text)?.[1] ?? "not measured yet";
}

async function check() {
  const rows = await measureSizes();
  for (const { entry, bytes, limit } of rows)
    process.stdout.write(`${entry}: ${bytes}${limit === undefined ? "" : ` of at most ${limit}`} bytes\n`);
  const problems = sizeProblems(rows, parseSizes(standing()), exceptions);
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
