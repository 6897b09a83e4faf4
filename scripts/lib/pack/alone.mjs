import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { compilerPath } from "../compiler.mjs";
import { run } from "../run.mjs";
import { listPackages, root } from "../workspace.mjs";
import { exportTargets } from "./shape.mjs";

/**
 * Proves that a packed package works with exactly itself, its peers and its dependencies: in an empty folder outside
 * the workspace, every entry is imported and its declarations are compiled. Returns one text per problem.
 */
export async function aloneProblems(path, unpacked, manifest) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "agentfw-alone-")));
  try {
    place(folder, path, unpacked, manifest);
    const entries = [...new Set(exportTargets(manifest.exports).map(([from]) => from.slice("exports ".length)))]
      .filter((subpath) => subpath !== "./package.json")
      .map((subpath) => manifest.name + subpath.slice(1));
    return [...(await importProblems(folder, entries)), ...(await typeProblems(folder, entries))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Puts an unpacked package, its peers and its dependencies into a folder, as an install would; drivers are linked. */
export function place(folder, path, unpacked, manifest) {
  const modules = join(folder, "node_modules");
  cpSync(unpacked, join(modules, manifest.name), { recursive: true });
  const ours = new Map(listPackages().map((entry) => [entry.manifest.name, entry.path]));
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    const target = join(modules, name);
    mkdirSync(dirname(target), { recursive: true });
    if (ours.has(name)) cpSync(join(ours.get(name), ".pack", "package"), target, { recursive: true });
    else symlinkSync(realpathSync(join(path, "node_modules", name)), target, "junction");
  }
  mkdirSync(join(modules, "@types"), { recursive: true });
  symlinkSync(realpathSync(join(root, "node_modules", "@types", "node")), join(modules, "@types", "node"), "junction");
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
}

async function importProblems(folder, entries) {
  const problems = [];
  for (const entry of entries) {
    const code = `import(${JSON.stringify(entry)}).then(
      (all) => { if (Object.keys(all).length === 0) { console.log("it exports nothing"); process.exitCode = 1; } },
      (error) => { console.log(error.message); process.exitCode = 1; });`;
    const result = await run(process.execPath, ["--input-type=module", "--eval", code], { cwd: folder });
    if (result.code !== 0) problems.push(`${entry} cannot be imported on its own: ${result.output.trim()}`);
  }
  return problems;
}

async function typeProblems(folder, entries) {
  const options = {
    module: "NodeNext",
    target: "ES2023",
    lib: ["ES2023"],
    strict: true,
    noEmit: true,
    types: ["node"],
    skipLibCheck: false,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["use.ts"] }));
  writeFileSync(
    join(folder, "use.ts"),
    entries.map((entry, index) => `export * as e${index} from ${JSON.stringify(entry)};\n`).join(""),
  );
  const { output } = await run(process.execPath, [compilerPath(), "-p", ".", "--pretty", "false"], { cwd: folder });
  // What a driver's own declarations get wrong is not ours to fail for.
  const ours = output.split("\n").filter((line) => /^(use\.ts|node_modules\/@agentfw\/)/.test(line));
  return ours.length === 0 ? [] : [`its declarations do not compile on their own:\n${ours.join("\n")}`];
}
