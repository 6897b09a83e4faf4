import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { nameProvider, providerKinds, renderProvider } from "../../packages/create-provider/src/index.ts";
import { checkPackages } from "../check-packages.mjs";
import { compilerPath } from "../lib/compiler.mjs";
import { firstChangeset, workspacePackage } from "../lib/new/workspace-package.mjs";
import { typescriptBlocks } from "../lib/readmes/blocks.mjs";
import { sourcePaths } from "../lib/readmes/compile.mjs";
import { headingProblems } from "../lib/readmes/headings.mjs";
import { run } from "../lib/run.mjs";
import { readJson, root } from "../lib/workspace.mjs";
import { goodWorkspace, write } from "./workspace-fixture.mjs";

/** The files of a new package of a kind, by their paths in its folder, and its names. */
async function newPackage(kind) {
  const names = nameProvider({ kind, name: "some-db", scope: "agentfw" });
  return { names, files: workspacePackage(await renderProvider(names), names, "our license\n") };
}

/** The same as paths in a checkout. */
function inCheckout({ names, files }) {
  return Object.fromEntries([...files].map(([path, text]) => [`packages/${names.provider}/${path}`, text]));
}

it.each(providerKinds)("a new %s package keeps every rule of the house", async (kind) => {
  const made = await newPackage(kind);
  expect(checkPackages(write({ ...goodWorkspace(), ...inCheckout(made) }))).toEqual([]);
  const manifest = JSON.parse(made.files.get("package.json"));
  const entry = { group: "packages", folder: made.names.provider, manifest };
  expect(headingProblems(entry, made.files.get("README.md"))).toEqual([]);
});

it("has what the packages here have, and nothing that only a repository of its own needs", async () => {
  const { files } = await newPackage("history");
  expect([...files.keys()].sort()).toEqual([
    "LICENSE",
    "README.md",
    "package.json",
    "src/errors.ts",
    "src/index.ts",
    "src/options.ts",
    "src/some-db-history-store.ts",
    "test/contract.test.ts",
    "test/errors.test.ts",
    "test/open.ts",
    "tsconfig.json",
    "tsdown.config.ts",
    "vitest.config.ts",
  ]);
  expect(files.get("LICENSE")).toBe("our license\n");
  const other = readJson(join(root, "packages", "history-redis", "package.json"));
  const manifest = JSON.parse(files.get("package.json"));
  for (const field of ["type", "files", "exports", "publishConfig", "scripts", "peerDependencies", "engines"]) {
    expect({ [field]: manifest[field] }).toEqual({ [field]: other[field] });
  }
  for (const [name, range] of Object.entries(manifest.devDependencies)) {
    expect({ [name]: range }).toEqual({ [name]: other.devDependencies[name] });
  }
  for (const name of ["tsconfig.json", "tsdown.config.ts"]) {
    expect(files.get(name)).toBe(readFileSync(join(root, "packages", "history-redis", name), "utf8"));
  }
});

it("is released for the first time as a minor", async () => {
  const { names } = await newPackage("state");
  expect(firstChangeset(names)).toBe(
    '---\n"@agentfw/state-some-db": minor\n---\n\nDurable state for agentfw, on some-db.\n',
  );
});

it("compiles with the options of the house, its README's examples too", { timeout: 120_000 }, async () => {
  const folder = join(root, ".cache", "new");
  rmSync(folder, { recursive: true, force: true });
  const paths = sourcePaths();
  for (const kind of providerKinds) {
    const made = await newPackage(kind);
    const examples = typescriptBlocks(made.files.get("README.md"));
    expect(examples).not.toEqual([]);
    made.files.set("test/readme.ts", examples.map(({ code }) => code).join("\n"));
    paths[made.names.packageName] = [join(folder, "packages", made.names.provider, "src", "index.ts")];
    for (const [path, text] of Object.entries(inCheckout(made))) {
      if (!/\/(src|test)\//.test(path)) continue;
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
  }
  const config = {
    extends: "../../tsconfig.node.json",
    // An example ends where it has shown what it is about.
    compilerOptions: { paths, noUnusedLocals: false },
    include: ["packages"],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  expect(await run(process.execPath, [compilerPath(), "-p", folder, "--pretty", "false"])).toEqual({
    code: 0,
    output: "",
  });
});
