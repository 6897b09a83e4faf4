import { expect, it } from "vitest";
import { shapeProblems } from "../lib/pack/shape.mjs";

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

it.each(["src/index.ts", "test/a.test.ts", ".env"])("refuses %s", (file) => {
  expect(shapeProblems(manifest, [...files, file])).toEqual([`${file} should not be in the tarball`]);
});

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
