import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../run.mjs";
import { root } from "../workspace.mjs";
import { sourcePaths } from "./compile.mjs";

/**
 * A page with every report of the kit as it is printed now, and what is wrong. A report is a block that is fenced as "```text
 * from <path> <ids>": what the kit's command prints, with `--only <ids>`, about what the file at the path opens.
 */
export async function withReports(text, base) {
  const lines = text.split("\n");
  const problems = [];
  for (const { start, end, path, ids } of reportBlocks(lines).reverse()) {
    const file = join(base, path);
    const printed = existsSync(file) ? await printedReport(file, ids) : undefined;
    if (printed === undefined) problems.push(`line ${start}: there is no ${path}`);
    else if (printed.problem) problems.push(`line ${start}: ${printed.problem}`);
    else lines.splice(start, end - start, ...printed.lines);
  }
  return { text: lines.join("\n"), problems };
}

function reportBlocks(lines) {
  return lines.flatMap((line, index) => {
    const [, path, ids] = /^```text from (\S+) (\S+)$/.exec(line) ?? [];
    if (path === undefined) return [];
    const end = lines.findIndex((other, at) => at > index && other === "```");
    return [{ start: index + 1, end: end < 0 ? lines.length : end, path, ids }];
  });
}

/** The kit and the file are bundled from their sources: nothing has to be built before a page is checked. */
async function printedReport(file, ids) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "agentfw-report-")));
  try {
    await bundle(file, join(folder, "open.mjs"));
    await bundle(join(root, "packages", "provider-testing", "src", "cli.ts"), join(folder, "cli.mjs"));
    const { code, output } = await run(process.execPath, ["cli.mjs", "open.mjs", "--only", ids], { cwd: folder });
    const isReport = code === 0 || code === 1;
    return isReport
      ? { lines: output.trim().split("\n") }
      : { problem: `the kit ended with ${code}: ${output.trim()}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function bundle(entry, outfile) {
  const { build } = await import("esbuild");
  const config = `${outfile}.tsconfig.json`;
  writeFileSync(config, JSON.stringify({ compilerOptions: { paths: sourcePaths() } }));
  const banner =
    'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    tsconfig: config,
    // Loads TypeScript, which is compiled already.
    external: ["jiti"],
    banner: { js: banner },
    logLevel: "warning",
  });
}
