// Every package has a README with the house's headings, and every example in every README compiles. Fenced as
// ```ts run, it also runs.
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { typescriptBlocks } from "./lib/readmes/blocks.mjs";
import { compileBlocks } from "./lib/readmes/compile.mjs";
import { headingProblems } from "./lib/readmes/headings.mjs";
import { listPackages, root } from "./lib/workspace.mjs";

/** The READMEs of a checkout: `{ readme, home, entry }`. The root's examples see what the quickstart sees. */
function readmes(base) {
  const packages = listPackages(base).map((entry) => ({
    readme: join(entry.path, "README.md"),
    home: entry.path,
    entry,
  }));
  return [{ readme: join(base, "README.md"), home: join(base, "apps", "quickstart") }, ...packages];
}

/** What is wrong with the texts themselves, before anything is compiled. */
export function textProblems(base = root) {
  return readmes(base).flatMap(({ readme, entry }) => {
    const name = relative(base, readme).replaceAll("\\", "/");
    const isRequired = entry === undefined || entry.group === "packages";
    if (!existsSync(readme)) return isRequired ? [`${name} is missing`] : [];
    if (!isRequired || entry === undefined) return [];
    return headingProblems(entry, readFileSync(readme, "utf8")).map((problem) => `${name}: ${problem}`);
  });
}

/** Every TypeScript block of every README, with where it came from. */
export function allBlocks(base = root) {
  return readmes(base)
    .filter(({ readme }) => existsSync(readme))
    .flatMap(({ readme, home }) =>
      typescriptBlocks(readFileSync(readme, "utf8")).map((block) => ({ ...block, readme, home })),
    );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const problems = [...textProblems(), ...(await compileBlocks(allBlocks()))];
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
