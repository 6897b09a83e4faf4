import { describe, expect, it } from "vitest";
import { graphProblems } from "../lib/pack/graph.mjs";
import { shapeProblems } from "../lib/pack/shape.mjs";
import { contents } from "../lib/pack/tarball.mjs";
import { write } from "./workspace-fixture.mjs";

const manifest = {
  name: "@agentfw/history-file",
  exports: { ".": { types: "./dist/index.d.ts", default: "./dist/index.js" }, "./package.json": "./package.json" },
  bin: { "agentfw-file": "./dist/cli.js" },
  peerDependencies: { "@agentfw/core": "^0.1.0" },
};
const files = ["package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts", "dist/cli.js"];
const without = (name) => files.filter((file) => file !== name);

it("accepts a tarball with everything it promises", () => {
  expect(shapeProblems(manifest, files)).toEqual([]);
});

it.each(["README.md", "LICENSE", "dist/index.js", "dist/index.d.ts", "dist/cli.js"])("misses %s", (file) => {
  expect(shapeProblems(manifest, without(file))).toEqual([expect.stringContaining(file)]);
});

it.each(["src/index.ts", "test/a.test.ts", ".env", "dist/.env", "dist/data.json", "dist/index.ts", "dist/a.d.ts.map"])(
  "refuses %s",
  (file) => {
    expect(shapeProblems(manifest, [...files, file])).toEqual([`${file} should not be in the tarball`]);
  },
);

it.each(["workspace:*", "catalog:", "link:../core", "file:../core"])("refuses the range %s", (range) => {
  const peerDependencies = { "@agentfw/core": range };
  expect(shapeProblems({ ...manifest, peerDependencies }, files)).toEqual([
    `peerDependencies.@agentfw/core is still "${range}"`,
  ]);
});

it("takes the folders that the manifest publishes, and no others", () => {
  const published = { ...manifest, files: ["dist", "template"] };
  expect(shapeProblems(published, [...files, "template/all/package.json"])).toEqual([]);
  expect(shapeProblems(published, [...files, "templates/all/package.json"])).toHaveLength(1);
  expect(shapeProblems(manifest, [...files, "template/all/package.json"])).toHaveLength(1);
});

describe("what the files of a tarball lead to", () => {
  const built = {
    "dist/index.js": 'import { a } from "./chunk-1.js";\nexport const engine = () => import("./engine-1.js");\n',
    "dist/index.js.map": "{}",
    "dist/index.d.ts": 'export { B } from "./types-1.js";\n',
    "dist/types-1.d.ts": 'import type { C } from "@agentfw/core/backend";\nexport type B = C;\n',
    "dist/chunk-1.js": 'import { join } from "node:path";\n// import "./comment.js"\nexport const a = join;\n',
    "dist/engine-1.js": 'import "@agentfw/core";\nexport const driver = () => import("pg/lib");\n',
    "dist/engine-1.js.map": "{}",
    "dist/cli.js": 'import "./index.js";\nawait import(process.argv[2]);\n',
    "dist/cli.d.ts": "export {};\n",
    "package.json": {},
    "template/index.js": 'import "./nowhere.js";\n',
  };
  const whole = { ...manifest, dependencies: { pg: "^8.0.0" } };
  const problems = (changes, changed = whole) => {
    const folder = write({ ...built, ...changes });
    return graphProblems(folder, changed, contents(folder));
  };

  it("accepts a build in which every import leads somewhere and every file is led to", () => {
    expect(problems({})).toEqual([]);
  });

  it.each([
    ["imported at once", "dist/chunk-1.js", 'dist/index.js imports "./chunk-1.js", which leads to nothing'],
    ["imported on demand", "dist/engine-1.js", 'dist/index.js imports "./engine-1.js", which leads to nothing'],
    ["of declarations", "dist/types-1.d.ts", 'dist/index.d.ts imports "./types-1.js", which leads to nothing'],
  ])("misses a chunk %s", (_, file, problem) => {
    const alone = { [file]: undefined, "dist/engine-1.js.map": undefined };
    expect(problems(alone)).toEqual([problem]);
  });

  it.each(["dist/big.test.js", "dist/engine-0.js", "dist/old.d.ts", "dist/gone.js.map"])("refuses %s", (file) => {
    expect(problems({ [file]: "" })).toEqual([`${file} is in the tarball, and nothing of the build leads to it`]);
  });

  it("wants every package that a file imports in the manifest, for an engine too", () => {
    expect(problems({}, { ...manifest, devDependencies: { pg: "^8.0.0" } })).toEqual([
      'dist/engine-1.js imports "pg/lib", which is neither a dependency nor a peer',
    ]);
    expect(problems({}, { ...whole, peerDependencies: {} })).toEqual(
      ["types-1.d.ts", "engine-1.js"].map((file) => expect.stringContaining(file)),
    );
  });
});
