// Every project in examples/ is tried as a stranger would have it: copied out of the checkout, installed by its own lockfile, with
// our packages as they are packed and served by a registry of this machine. `--lock` renews the lockfiles instead.
import "./lib/require-node.mjs";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isSourceOf, listExamples } from "./lib/examples/list.mjs";
import { lockText, withVersions } from "./lib/examples/lock.mjs";
import { installProblems, packedForExamples } from "./lib/examples/packed.mjs";
import { exampleRunProblems, examplesOf, exampleTypeProblems } from "./lib/install-proof/examples.mjs";
import { main } from "./lib/main.mjs";
import { npm } from "./lib/npm.mjs";
import { startRegistry } from "./lib/registry/server.mjs";
import { scope } from "./lib/rules/kinds.mjs";
import { failure, seconds } from "./lib/run.mjs";
import { readJson, root } from "./lib/workspace.mjs";

const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"];

/** Copies a project out, and points our scope at the registry. Returns the folder. */
function copyOut({ path, folder }, { registry, versions, home }) {
  const place = join(home, folder);
  cpSync(path, place, { recursive: true, filter: (file) => isSourceOf(path, file) });
  writeFileSync(join(place, ".npmrc"), `${scope.slice(0, -1)}:registry=${registry}\n`);
  const lockfile = join(place, "package-lock.json");
  if (existsSync(lockfile)) writeFileSync(lockfile, lockText(withVersions(readJson(lockfile), versions)));
  return place;
}

async function must(args, cwd) {
  const { code, output } = await npm(args, { cwd });
  if (code !== 0) throw failure(`npm ${args.slice(0, 2).join(" ")} failed:\n${output.trim()}`);
}

async function tryOut(example, place, packed) {
  const report = join(example.path, ".reports", "tests.json");
  rmSync(report, { force: true });
  await must(["ci", ...quiet], place);
  const problems = packed.flatMap((one) => installProblems(one, place));
  if (problems.length > 0) throw failure(`${example.directory}: ${problems.join("\n")}`);
  await must(["run", "typecheck"], place);
  const reporters = ["--reporter=default", "--reporter=json", "--outputFile.json=.reports/tests.json"];
  try {
    await must(["test", "--", ...reporters], place);
  } finally {
    const written = join(place, ".reports", "tests.json");
    mkdirSync(dirname(report), { recursive: true });
    if (existsSync(written)) copyFileSync(written, report);
  }
  const wrong = await readmeProblems(place);
  if (wrong.length > 0) throw failure(wrong.map((problem) => `${example.directory}/README.md: ${problem}`).join("\n"));
}

/** The examples of a project's README, compiled and run in the project itself, which its tests have built. */
async function readmeProblems(place) {
  const examples = examplesOf(readFileSync(join(place, "README.md"), "utf8"));
  if (!examples.some(({ run }) => run)) return ["no example in it is run: ```ts run"];
  const problems = exampleTypeProblems(place, examples, []);
  return problems.length > 0 ? problems : exampleRunProblems(place, examples, process.env);
}

async function renewLock(example, place) {
  await must(["install", "--package-lock-only", "--omit-lockfile-registry-resolved", ...quiet], place);
  const lock = readJson(join(place, "package-lock.json"));
  writeFileSync(join(example.path, "package-lock.json"), lockText(withVersions(lock, new Map())));
}

await main(async () => {
  const isLocking = process.argv.includes("--lock");
  const home = realpathSync(mkdtempSync(join(tmpdir(), "agentfw-examples-")));
  const packed = await packedForExamples(join(home, ".packed"));
  const registry = await startRegistry(join(home, ".registry"));
  const versions = new Map(packed.map(({ name, version }) => [name, version]));
  try {
    for (const { tarball } of packed) await registry.publish(tarball);
    for (const example of listExamples(root)) {
      const start = Date.now();
      const place = copyOut(example, { registry: registry.url, versions, home });
      await (isLocking ? renewLock(example, place) : tryOut(example, place, packed));
      process.stdout.write(`${example.directory}: ok (${seconds(start)})\n`);
    }
  } finally {
    await registry.stop();
    rmSync(home, { recursive: true, force: true });
  }
});
