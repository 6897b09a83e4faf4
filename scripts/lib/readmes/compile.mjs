import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { compilerPath } from "../compiler.mjs";
import { mapParallel } from "../parallel.mjs";
import { run } from "../run.mjs";
import { listPackages, root } from "../workspace.mjs";
import { exampleProblems } from "./execute.mjs";
import { withServers } from "./servers.mjs";

/**
 * Writes each block to a file of its own, compiles them in one run of the compiler and executes those that ask for it.
 * A block is `{ readme, home, line, code, run }`, `home` being the package folder whose dependencies it may import.
 * Returns `README.md:line: problem` texts. `cache` names the ignored folders that the files go to.
 */
export async function compileBlocks(blocks, cache = "readmes") {
  const work = join(root, ".cache", cache);
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  for (const { home } of blocks) rmSync(join(home, ".cache", cache), { recursive: true, force: true });
  const written = blocks.map((block) => ({ ...block, file: writeBlock(block, cache) }));
  const config = join(work, "tsconfig.json");
  writeFileSync(config, JSON.stringify(compilerConfig(written)));
  const problems = await typeProblems(written, config);
  if (problems.length > 0) return problems;
  const running = written.filter((one) => one.run);
  const codes = running.map(({ code }) => code);
  return withServers(codes, async (env) =>
    (await mapParallel(running, 2, (block) => runProblems(block, { config, cache, env }))).flat(),
  );
}

/** Blank lines before the code make its line numbers those of the README. */
function writeBlock(block, cache) {
  const folder = join(block.home, ".cache", cache);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${relative(root, block.readme).replaceAll(/[\\/]/g, "-")}-${block.line}.ts`);
  writeFileSync(file, `${"\n".repeat(block.line - 1)}${block.code}\n`);
  return file;
}

function compilerConfig(blocks) {
  const options = { isolatedDeclarations: false, declaration: false, noUnusedLocals: false, noUnusedParameters: false };
  return {
    extends: join(root, "tsconfig.node.json"),
    compilerOptions: { ...options, paths: sourcePaths() },
    files: blocks.map(({ file }) => file),
  };
}

/** Every entry of every package, so that a README may show packages that its own package does not depend on. */
export function sourcePaths() {
  const published = listPackages().filter(({ group }) => group === "packages");
  return Object.fromEntries(
    published.flatMap(({ manifest, path }) =>
      Object.entries(manifest.exports)
        .filter(([, target]) => target.endsWith(".ts"))
        .map(([name, target]) => [manifest.name + name.slice(1), [join(path, target)]]),
    ),
  );
}

async function typeProblems(blocks, config) {
  if (blocks.length === 0) return [];
  const { code, output } = await run(process.execPath, [compilerPath(), "-p", config, "--pretty", "false"]);
  if (code === 0) return [];
  return output
    .trim()
    .split("\n")
    .map((line) => inReadme(line, blocks));
}

/** Turns `…/readmes/file.ts(12,5): error …` into `README.md:12: error …`. */
function inReadme(line, blocks) {
  const [, file, number, rest] = /^(.*)\((\d+),\d+\): (.*)$/.exec(line) ?? [];
  const block = file && blocks.find((one) => one.file === join(root, file));
  return block ? `${relative(root, block.readme)}:${number}: ${rest}` : line;
}

async function runProblems(block, { config, cache, env }) {
  const { build } = await import("esbuild");
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "agentfw-readme-")));
  // One folder below the package's own, as a build is: what is beside its sources is found from there.
  const outfile = join(block.home, ".cache", `${cache}-${basename(block.file, ".ts")}.mjs`);
  const banner =
    'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';
  try {
    await build({
      entryPoints: [block.file],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      tsconfig: config,
      banner: { js: banner },
      // It has files of its own beside it.
      external: ["@electric-sql/pglite"],
      logLevel: "warning",
    });
    const problems = await exampleProblems(outfile, { cwd: folder, env });
    return problems.map((problem) => `${relative(root, block.readme)}:${block.line}: the example ${problem}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
    rmSync(outfile, { force: true });
  }
}
