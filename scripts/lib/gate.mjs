import { createRequire } from "node:module";
import { join } from "node:path";
import { ensureInstalled } from "./install.mjs";
import { readable } from "./output.mjs";
import { withPnpm } from "./pnpm.mjs";
import { run, seconds } from "./run.mjs";
import { root } from "./workspace.mjs";

/** What holds for the whole checkout before any test runs, cheapest first. */
const checks = [
  {
    title: "format and lint",
    command: (tools) => tools.node("@biomejs/biome/bin/biome", "check", "--error-on-warnings", "."),
  },
  { title: "package rules", command: (tools) => tools.script("check-packages.mjs") },
  { title: "versions of the next release", command: (tools) => tools.script("release-guard.mjs") },
  { title: "types", command: (tools) => tools.turbo("typecheck") },
  { title: "readme examples", command: (tools) => tools.turbo("check:readmes") },
  { title: "build and packed tarballs", command: (tools) => tools.turbo("check:pack") },
  { title: "sizes", command: (tools) => tools.script("sizes.mjs", "--packed") },
  { title: "every package installs alone", command: (tools) => tools.script("install-proof.mjs") },
];

/** Installs what is missing and returns the ways to call the tools of the checkout. */
export async function prepare() {
  const env = withPnpm(await ensureInstalled());
  const { resolve } = createRequire(join(root, "package.json"));
  const node = (module, ...args) => run(process.execPath, [resolve(module), ...args], { env });
  return {
    node,
    script: (name, ...args) => run(process.execPath, [join(root, "scripts", name), ...args], { env }),
    // One failing package does not hide another, and what passed is not printed.
    turbo: (...tasks) =>
      node("turbo/bin/turbo", "run", ...tasks, "--continue=dependencies-successful", "--output-logs=errors-only"),
  };
}

/** Runs every check, also after one failed, and returns the titles of those that failed. */
export async function runChecks(tools) {
  const failed = [];
  for (const { title, command } of checks) if (!(await step(title, () => command(tools)))) failed.push(title);
  return failed;
}

/** Runs one step, says how it went, and shows its output when it failed. */
export async function step(title, command) {
  const start = Date.now();
  process.stdout.write(`${title} … `);
  const { code, output } = await command();
  process.stdout.write(`${code === 0 ? "ok" : "FAILED"} (${seconds(start)})\n`);
  if (code !== 0) process.stdout.write(`\n${readable(output)}\n\n`);
  return code === 0;
}
