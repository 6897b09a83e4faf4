// Every package has a README with the house's headings and an example that runs, and every example in every README and
// authoring page compiles. Fenced as ```ts run, it also runs; fenced as ```ts from <path> <Name>, it is that declaration, and as
// ```text from <path> <ids>, what the kit reports about that store. --write renews those. Versions in the pages are those
// that a new project has, and clauses are there. In every other page, too, a block is of a kind that is checked here.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { typescriptBlocks } from "./lib/readmes/blocks.mjs";
import { clauseIds, clauseProblems } from "./lib/readmes/clauses.mjs";
import { extraPages, patternProblems } from "./lib/readmes/commands.mjs";
import { compileBlocks } from "./lib/readmes/compile.mjs";
import { fenceProblems } from "./lib/readmes/fences.mjs";
import { headingProblems } from "./lib/readmes/headings.mjs";
import { withReports } from "./lib/readmes/reports.mjs";
import { withSources } from "./lib/readmes/sources.mjs";
import { knownRanges, versionProblems } from "./lib/readmes/versions.mjs";
import { listFiles, listPackages, root } from "./lib/workspace.mjs";

/** The scaffolder fills in its pages, and the tests of `npm run new` compile them; examples/ are tried where they are installed. */
const checkedElsewhere = ["packages/create-provider/template/", "examples/"];

/** The pages for people who write providers. Their examples see what the kit sees. */
function authoringPages(base) {
  const folder = join(base, "docs", "authoring");
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".md")) : [];
  return names.sort().map((name) => ({
    readme: join(folder, name),
    home: join(base, "packages", "provider-testing"),
  }));
}

/** Every page that is ours: `{ path, name, text }`. Changelogs are written by a tool. */
function pages(base) {
  return listFiles(base, (name) => name.endsWith(".md") && name !== "CHANGELOG.md").map((path) => ({
    path,
    name: relative(base, path).replaceAll("\\", "/"),
    text: readFileSync(path, "utf8"),
  }));
}

/** Which declarations in the pages are not those of the source. With `write`, they are renewed. */
export function sourceProblems(base = root, write = false) {
  return pages(base).flatMap(({ path, name, text }) => {
    const { text: renewed, problems } = withSources(text, base);
    if (write && renewed !== text) writeFileSync(path, renewed);
    const isOld = !write && renewed !== text;
    return [
      ...problems.map((problem) => `${name}: ${problem}`),
      ...(isOld
        ? [`${name}: shows a declaration that the source has otherwise; npm run check:readmes -- --write`]
        : []),
    ];
  });
}

/** Which reports in the pages are not what the kit prints. With `write`, they are renewed. */
export async function reportProblems(base = root, write = false) {
  const problems = [];
  for (const { path, name, text } of pages(base)) {
    const { text: renewed, problems: found } = await withReports(text, base);
    if (write && renewed !== text) writeFileSync(path, renewed);
    const old = "shows a report that the kit prints otherwise; npm run check:readmes -- --write";
    problems.push(...[...found, ...(!write && renewed !== text ? [old] : [])].map((problem) => `${name}: ${problem}`));
  }
  return problems;
}

/** Which versions in the pages are not those of a new project, and which clauses there are none of. */
export function factProblems(base = root) {
  const known = knownRanges(base);
  const ids = clauseIds(base);
  const pages = [...authoringPages(base).map(({ readme }) => readme), join(base, "docs", "compatibility.md")];
  return pages.flatMap((page) => {
    const text = readFileSync(page, "utf8");
    const name = relative(base, page).replaceAll("\\", "/");
    return [...versionProblems(text, known), ...clauseProblems(text, ids)].map((problem) => `${name}: ${problem}`);
  });
}

/** The stores whose reports are shown, compiled as the examples are. */
function samples(base) {
  const folder = join(base, "docs", "authoring", "samples");
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".ts")) : [];
  return names.sort().map((name) => ({
    code: readFileSync(join(folder, name), "utf8"),
    line: 1,
    run: false,
    readme: join(folder, name),
    home: join(base, "packages", "provider-testing"),
  }));
}

/** Blocks that no check would look at, and commands that would run no test. */
export function pageProblems(base = root) {
  const compiled = [...readmes(base), ...authoringPages(base)].map(({ readme }) => readme);
  const ids = clauseIds(base);
  return pages(base).flatMap(({ path, name, text }) => {
    const isChecked = compiled.includes(path) || checkedElsewhere.some((folder) => name.startsWith(folder));
    const [block] = isChecked ? [] : typescriptBlocks(text);
    const isAuthoring = name.startsWith("docs/authoring/");
    return [
      ...fenceProblems(text),
      ...(block === undefined ? [] : [`line ${block.line - 1}: shows TypeScript where nothing compiles it`]),
      ...(isAuthoring ? patternProblems(text, ids) : []),
    ].map((problem) => `${name}: ${problem}`);
  });
}

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
    const text = readFileSync(readme, "utf8");
    const runs = typescriptBlocks(text).some(({ run }) => run);
    const problems = [...headingProblems(entry, text), ...(runs ? [] : ["no example in it is run: ```ts run"])];
    return problems.map((problem) => `${name}: ${problem}`);
  });
}

/** Every TypeScript block of every README, with where it came from. */
export function allBlocks(base = root) {
  const blocks = [...readmes(base), ...authoringPages(base)]
    .filter(({ readme }) => existsSync(readme))
    .flatMap(({ readme, home }) =>
      typescriptBlocks(readFileSync(readme, "utf8")).map((block) => ({ ...block, readme, home })),
    );
  return [...blocks, ...samples(base)];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const isWriting = process.argv.includes("--write");
  const problems = [
    ...textProblems(),
    ...pageProblems(),
    ...factProblems(),
    ...extraPages(root),
    ...sourceProblems(root, isWriting),
    ...(await reportProblems(root, isWriting)),
    ...(await compileBlocks(allBlocks())),
  ];
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
