// Run in the folder of one publishable package, after its build: packs it and checks the tarball, not the sources.
import "./lib/require-node.mjs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { main } from "./lib/main.mjs";
import { aloneProblems } from "./lib/pack/alone.mjs";
import { graphProblems } from "./lib/pack/graph.mjs";
import { shapeProblems } from "./lib/pack/shape.mjs";
import { contents, pack } from "./lib/pack/tarball.mjs";
import { failure, run } from "./lib/run.mjs";
import { readJson, root } from "./lib/workspace.mjs";

const { resolve } = createRequire(join(root, "package.json"));

async function publintProblems(unpacked, manifest) {
  const { publint } = await import(pathToFileURL(resolve("publint")).href);
  const { formatMessage } = await import(pathToFileURL(resolve("publint/utils")).href);
  const { messages } = await publint({ pkgDir: unpacked, pack: false, level: "warning", strict: true });
  return messages.map((message) => `publint: ${formatMessage(message, manifest, { color: false })}`);
}

async function typeResolutionProblems(tarball) {
  const cli = join(root, "node_modules", "@arethetypeswrong", "cli", "dist", "index.js");
  const args = [
    cli,
    tarball,
    "--profile",
    "esm-only",
    "--no-definitely-typed",
    "--format",
    "ascii",
    "--no-color",
    "--no-emoji",
  ];
  const { code, output } = await run(process.execPath, args);
  return code === 0 ? [] : [`attw: ${output.trim()}`];
}

await main(async () => {
  const path = process.cwd();
  const { tarball, unpacked } = await pack(path);
  const manifest = readJson(join(unpacked, "package.json"));
  const files = contents(unpacked);
  const problems = [
    ...shapeProblems(manifest, files),
    ...graphProblems(unpacked, manifest, files),
    ...(await publintProblems(unpacked, manifest)),
    ...(await typeResolutionProblems(tarball)),
    ...(await aloneProblems(path, unpacked, manifest)),
  ];
  if (problems.length > 0) throw failure(problems.map((problem) => `${manifest.name}: ${problem}`).join("\n"));
});
