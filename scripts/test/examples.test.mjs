import { join } from "node:path";
import { expect, it } from "vitest";
import { isSourceOf, listExamples } from "../lib/examples/list.mjs";
import { withVersions } from "../lib/examples/lock.mjs";
import { installProblems, neededNames, servedVersion } from "../lib/examples/packed.mjs";
import { write } from "./workspace-fixture.mjs";

it("lists what has a manifest, and copies only what somebody wrote", () => {
  const folder = write({ "examples/a/package.json": { name: "a" }, "examples/notes/README.md": "text" });
  expect(listExamples(folder)).toMatchObject([{ folder: "a", directory: "examples/a", manifest: { name: "a" } }]);
  expect(listExamples(write({}))).toEqual([]);
  expect(isSourceOf("/x/a", "/x/a/src/index.ts")).toBe(true);
  for (const made of ["node_modules", "dist/index.js", ".reports/tests.json"])
    expect(isSourceOf("/x/a", `/x/a/${made}`)).toBe(false);
});

it("takes from a lockfile what is only true of one registry or of one build", () => {
  const lock = {
    lockfileVersion: 3,
    packages: {
      "": { name: "a", version: "1.0.0" },
      "node_modules/@agentfw/kit": { version: "0.1.0", resolved: "http://x/kit.tgz", integrity: "sha512-a" },
      "node_modules/b/node_modules/@agentfw/kit": { version: "0.1.0", integrity: "sha512-a" },
      "node_modules/citty": { version: "0.2.2", resolved: "http://x/citty.tgz", integrity: "sha512-b" },
    },
  };
  expect(withVersions(lock, new Map([["@agentfw/kit", "0.1.7"]])).packages).toEqual({
    "": { name: "a", version: "1.0.0" },
    "node_modules/@agentfw/kit": { version: "0.1.7" },
    "node_modules/b/node_modules/@agentfw/kit": { version: "0.1.7" },
    "node_modules/citty": { version: "0.2.2", integrity: "sha512-b" },
  });
});

it("packs what examples name of ours and what that needs, and refuses what is not published", () => {
  const published = new Map([
    ["@agentfw/kit", { peerDependencies: { "@agentfw/core": "^0.1.0" }, devDependencies: { "@agentfw/agent": "*" } }],
    ["@agentfw/core", {}],
    ["@agentfw/agent", {}],
  ]);
  expect(neededNames([{ devDependencies: { "@agentfw/kit": "^0.1.0", vitest: "*" } }], published)).toEqual([
    "@agentfw/core",
    "@agentfw/kit",
  ]);
  expect(() => neededNames([{ dependencies: { "@agentfw/no": "*" } }], published)).toThrow("@agentfw/no");
});

it("serves what was never released as its first version, and everything else as it is", () => {
  expect([servedVersion("0.0.0"), servedVersion("0.1.0"), servedVersion("1.2.3")]).toEqual(["0.1.0", "0.1.0", "1.2.3"]);
});

it("says which file was installed otherwise than it was packed", () => {
  const folder = write({
    "packed/package.json": { name: "@agentfw/kit" },
    "packed/dist/index.js": "new",
    "project/node_modules/@agentfw/kit/package.json": { name: "@agentfw/kit" },
    "project/node_modules/@agentfw/kit/dist/index.js": "old",
  });
  const one = { name: "@agentfw/kit", unpacked: join(folder, "packed") };
  const problem = "@agentfw/kit/dist/index.js was installed otherwise than it was packed";
  expect(installProblems(one, join(folder, "project"))).toEqual([problem]);
  expect(installProblems(one, join(folder, "nothing"))).toHaveLength(2);
});
