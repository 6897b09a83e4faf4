// Proves what somebody gets who installs this package: it is packed, installed into an empty folder with its peers and nothing
// else, imported, and the first example of its README is compiled there. `npm run prove`; arguments are packages to install
// beside it, such as a core that is not published yet.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const project = join(import.meta.dirname, "..");
const { resolve } = createRequire(join(project, "package.json"));
const manifest = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
const folder = realpathSync(mkdtempSync(join(tmpdir(), "prove-")));

function run(title, command, args, cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${title} failed:\n${stdout ?? ""}${stderr ?? ""}`);
}

const node = (title, args, cwd) => run(title, process.execPath, args, cwd);

/** The npm that runs this script, or the one beside Node. */
function npm(args, cwd) {
  const script = process.env.npm_execpath ?? "";
  const title = `npm ${args.join(" ")}`;
  if (script.endsWith("npm-cli.js")) node(title, [script, ...args], cwd);
  else run(title, "npm", args, cwd);
}

const say = (line) => process.stdout.write(`${line}\n`);

/** What the template asks to be written, and nobody wrote. */
function leftovers() {
  const missing = [
    ["README.md", /\*To be written: .*|^\|.*\| *\|$/gm],
    ["LICENSE", /<your name>/g],
  ];
  return missing.flatMap(([file, pattern]) =>
    [...readFileSync(join(project, file), "utf8").matchAll(pattern)].map(([text]) => `${file}: ${text}`),
  );
}

/** The first example of the README, and the packages that it imports beside this one. */
function example() {
  const code = /^```ts[^\n]*\n(.*?)^```$/ms.exec(readFileSync(join(project, "README.md"), "utf8"))?.[1];
  if (code === undefined) throw new Error("README.md has no example in TypeScript");
  const imported = [...code.matchAll(/\bfrom "((?:@[^/"]+\/)?[^./"][^/"]*)[^"]*"/g)].map(([, name]) => name);
  const known = [manifest.name, ...Object.keys(manifest.peerDependencies ?? {})];
  return { code, others: imported.filter((name) => !known.includes(name) && !name.startsWith("node:")) };
}

function install(packages) {
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  // Where npm finds a scope is said in the project.
  if (existsSync(join(project, ".npmrc"))) copyFileSync(join(project, ".npmrc"), join(folder, ".npmrc"));
  npm(["install", "--no-audit", "--no-fund", ...packages], folder);
}

function compile(code) {
  writeFileSync(join(folder, "example.ts"), code);
  const typeRoots = [dirname(dirname(resolve("@types/node/package.json")))];
  const strict = { strict: true, noEmit: true, target: "es2023", lib: ["es2023"], types: ["node"], typeRoots };
  const compilerOptions = { ...strict, module: "nodenext", skipLibCheck: true };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["example.ts"] }));
  node("the first example of README.md", [resolve("typescript/bin/tsc"), "-p", "."], folder);
}

try {
  const left = leftovers();
  if (left.length > 0) throw new Error(`This is still the template's:\n${left.join("\n")}`);
  const packed = join(folder, "packed");
  mkdirSync(packed);
  say(`packing ${manifest.name}`);
  npm(["pack", "--pack-destination", packed], project);
  const [filename] = readdirSync(packed);
  const tarball = join(packed, filename);
  say("installing it into an empty folder");
  install([tarball, ...process.argv.slice(2)]);
  say(`${filename} installs alone`);
  node(
    `import "${manifest.name}"`,
    ["--input-type=module", "--eval", `await import(${JSON.stringify(manifest.name)})`],
    folder,
  );
  say(`${manifest.name} can be imported`);
  const { code, others } = example();
  if (others.length > 0) {
    say(`installing what its example imports: ${others.join(", ")}`);
    install([tarball, ...process.argv.slice(2), ...others]);
  }
  compile(code);
  say("the first example of README.md compiles");
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
