import { existsSync } from "node:fs";
import { join } from "node:path";
import { allowed, kindOf, scope } from "./kinds.mjs";

const fields = {
  dependencies: "runtime",
  optionalDependencies: "runtime",
  peerDependencies: "peer",
  devDependencies: "dev",
};
const required = [
  "README.md",
  "LICENSE",
  "package.json",
  "tsconfig.json",
  "tsdown.config.ts",
  "vitest.config.ts",
  "src/index.ts",
];

/** Checks one package's files and package.json against the house. `kinds` maps the names of our packages to kinds. */
export function manifestProblems(entry, kinds) {
  const kind = kindOf(entry);
  if (kind === "app") return entry.manifest.private === true ? [] : ["an app or a tool must be private"];
  if (kind === "unknown") return ["its folder name fits no kind of package; see scripts/lib/rules/kinds.mjs"];
  return [
    ...fileProblems(entry, kind),
    ...shapeProblems(entry, kind),
    ...Object.keys(fields).flatMap((field) => directionProblems(entry, kind, field, kinds)),
    ...peerProblems(entry, kind),
  ];
}

function fileProblems({ path }, kind) {
  const files = kind === "backend" ? [...required, "test/contract.test.ts"] : required;
  return files.filter((file) => !existsSync(join(path, file))).map((file) => `${file} is missing`);
}

function shapeProblems({ manifest, directory, folder }, kind) {
  const problems = [];
  const expect = (holds, sentence) => holds || problems.push(`package.json: ${sentence}`);
  expect(manifest.name === scope + folder, `name must be "${scope}${folder}"`);
  expect(manifest.type === "module", 'type must be "module"');
  expect(manifest.sideEffects === false, "sideEffects must be false");
  expect(manifest.license === "MIT", 'license must be "MIT"');
  expect((manifest.description ?? "") !== "", "description is missing");
  expect(manifest.keywords?.includes("agentfw"), 'keywords must include "agentfw"');
  expect(
    kind !== "backend" || manifest.keywords?.includes("agentfw-provider"),
    'keywords must include "agentfw-provider"',
  );
  expect(manifest.repository?.directory === directory, `repository.directory must be "${directory}"`);
  expect(manifest.engines?.node === ">=20.19", 'engines.node must be ">=20.19"');
  const files = JSON.stringify(kind === "create-provider" ? ["dist", "template"] : ["dist"]);
  expect(JSON.stringify(manifest.files) === files, `files must be ${files}`);
  expect(manifest.publishConfig?.access === "public", 'publishConfig.access must be "public"');
  expect(manifest.exports?.["."] === "./src/index.ts", 'exports["."] must be "./src/index.ts"');
  expect(
    !("main" in manifest || "module" in manifest || "types" in manifest),
    "main, module and types are left to exports",
  );
  return [...problems, ...exportProblems(manifest)];
}

/** Source and published exports must offer the same entries, and TypeScript reads the first condition that fits. */
function exportProblems({ exports = {}, publishConfig }) {
  const published = publishConfig?.exports ?? {};
  const names = Object.keys(exports);
  if (names.join() !== Object.keys(published).join())
    return ["package.json: publishConfig.exports must have the entries of exports"];
  return names
    .filter((name) => name !== "./package.json" && Object.keys(published[name]).join() !== "types,default")
    .map((name) => `package.json: publishConfig.exports["${name}"] must be types, then default`);
}

function directionProblems({ manifest }, kind, field, kinds) {
  const names = Object.keys(manifest[field] ?? {});
  if (kind === "core" && field !== "devDependencies")
    return names.map((name) => `core has no dependencies, and ${field} names ${name}`);
  const may = allowed[kind][fields[field]] ?? [];
  return names
    .filter((name) => name.startsWith(scope) && !may.includes(kinds.get(name)))
    .map((name) => `${field} must not name ${name}`);
}

/** A literal floor: `workspace:^` would publish the newest core as the oldest that works. */
function peerProblems({ manifest }, kind) {
  if (kind === "core" || kind === "create-provider") return [];
  const range = manifest.peerDependencies?.[`${scope}core`];
  if (range === undefined) return [`peerDependencies must name ${scope}core`];
  if (!/^\^\d+\.\d+\.\d+$/.test(range))
    return [`peerDependencies.${scope}core must be a literal floor such as "^0.1.0", not "${range}"`];
  return [];
}
