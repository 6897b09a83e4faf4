import { describe, expect, it } from "vitest";
import { examplesOf, importedPackages } from "../lib/install-proof/examples.mjs";
import { entriesOf, loadProblems } from "../lib/install-proof/load.mjs";
import { exampleNeeds, floorsOf, needProblems, withoutPeers } from "../lib/install-proof/needs.mjs";
import { foreignNeeds, installedTree, treeProblems } from "../lib/install-proof/tree.mjs";
import { mapParallel } from "../lib/parallel.mjs";
import { write } from "./workspace-fixture.mjs";

const isOurs = (name) => name.startsWith("@agentfw/");
const manifest = {
  dependencies: { ioredis: "^5.0.0 || ^6.0.0" },
  peerDependencies: { "@agentfw/core": "^1.4.0", "@opentelemetry/api": "^1.9.0", zod: "^4.0.0" },
  peerDependenciesMeta: { zod: { optional: true } },
  devDependencies: { pglite: "0.5.17" },
};
const one = { name: "@agentfw/history-redis", manifest };
const released = new Map([
  ["@agentfw/core", { version: "1.5.0" }],
  ["@agentfw/agent", { version: "1.0.0" }],
]);

it("reads what npm installed, with nested copies, aliases and scopes", () => {
  const packages = {
    "": {},
    "node_modules/@agentfw/core": { version: "1.0.0" },
    "node_modules/a/node_modules/b": { version: "2.0.0" },
    "node_modules/old": { name: "b", version: "1.0.0" },
  };
  const folder = write({ "node_modules/.package-lock.json": { packages } });
  expect(installedTree(folder)).toEqual(["@agentfw/core@1.0.0", "b@1.0.0", "b@2.0.0"]);
  expect(installedTree(write({}))).toEqual([]);
});

it("names what should not be in a tree and what should", () => {
  expect(treeProblems(["a@1", "b@1"], ["a@1", "c@1"])).toEqual([
    "b@1 is a stranger in its tree",
    "c@1 is missing from its tree",
  ]);
});

it("takes drivers and the required peers of others for what a package brings", () => {
  expect(foreignNeeds(manifest, isOurs)).toEqual(["@opentelemetry/api@^1.9.0", "ioredis@^5.0.0 || ^6.0.0"]);
});

it("knows what examples import", () => {
  const code = [
    'import { a } from "@agentfw/core/files";',
    'import fs from "fs";',
    'import "node:path";',
    'export * from "zod/v4";',
    'const b = await import("pg");',
    'import type { C } from "ioredis";',
    'import "./beside.ts";',
  ];
  expect(importedPackages(code.join("\n"))).toEqual(["@agentfw/core", "ioredis", "pg", "zod"]);
});

it("adds what examples import and the peers, ours as they are released", () => {
  const examples = examplesOf(
    '```ts\nimport "pglite";\nimport "@agentfw/agent";\nimport "@agentfw/history-redis";\n```\n',
  );
  expect(exampleNeeds(one, examples, released)).toEqual([
    "@agentfw/agent@1.0.0",
    "@agentfw/core@1.5.0",
    "@opentelemetry/api@^1.9.0",
    "pglite@0.5.17",
    "zod@^4.0.0",
  ]);
  expect(needProblems(one, examples, released)).toEqual([]);
  expect(needProblems(one, examplesOf('```ts\nimport "left-pad";\n```\n'), released)).toEqual([
    "an example imports left-pad, which no field of package.json names",
  ]);
});

it("tells which packages lack a peer of their own, but no optional one", () => {
  const needs = (...peers) => ({
    peerDependencies: Object.fromEntries(peers.map((name) => [name, "*"])),
    peerDependenciesMeta: { jsdom: { optional: true } },
  });
  const folder = write({
    "node_modules/vitest/package.json": needs("vite", "jsdom"),
    "node_modules/saver/package.json": needs("zod", "jsdom"),
    "node_modules/zod/package.json": {},
  });
  expect(withoutPeers(folder, ["vitest", "saver", "zod", "gone"])).toEqual(["vitest", "gone"]);
});

it("reads the oldest version of ours that a package takes", () => {
  expect(floorsOf(one, isOurs)).toEqual([{ name: "@agentfw/core", version: "1.4.0" }]);
});

it("keeps examples at their lines of the README", () => {
  expect(examplesOf("text\n```ts run\na();\n```\n")).toEqual([
    { name: "readme-3", code: "\n\na();\n", run: true, packages: [] },
  ]);
});

it("maps with a limit, in order", async () => {
  let active = 0;
  let most = 0;
  const results = await mapParallel([3, 1, 2, 0], 2, async (value) => {
    active += 1;
    most = Math.max(most, active);
    for (let turn = 0; turn < value; turn += 1) await Promise.resolve();
    active -= 1;
    return value * 2;
  });
  expect(results).toEqual([6, 2, 4, 0]);
  expect(most).toBe(2);
});

it("ends what is under way before it fails, and begins nothing more", async () => {
  const ended = [];
  const mapped = mapParallel([1, 2, 3], 2, async (value) => {
    if (value === 1) throw new Error("the first");
    await new Promise((resolve) => setTimeout(resolve, 20));
    ended.push(value);
  });
  await expect(mapped).rejects.toThrow("the first");
  expect(ended).toEqual([2]);
});

describe("loading what is installed", () => {
  const here = { types: "./dist/index.d.ts", default: "./dist/index.js" };
  const optional = { types: "./dist/more.d.ts", default: "./dist/more.js" };
  const packed = {
    name: "@agentfw/history-x",
    manifest: {
      exports: { ".": here, "./more": optional, "./package.json": "./package.json" },
      bin: { "x-tool": "./dist/cli.js" },
    },
  };
  const good = {
    "package.json": { type: "module", exports: packed.manifest.exports },
    "dist/index.js": 'export const open = () => import("./engine.js");\n',
    "dist/engine.js": 'export const driver = () => import("a-driver");\n',
    "dist/more.js": 'export * from "./chunk.js";\n',
    "dist/chunk.js": 'import "a-peer";\nexport const b = 1;\n',
    "dist/cli.js": 'if (process.argv[2] !== "--help") throw new Error("nobody runs it");\nconsole.log("help");\n',
  };
  const driver = {
    "node_modules/a-driver/index.js": "",
    "node_modules/a-driver/package.json": { exports: "./index.js" },
  };
  const load = (changes, others = driver) => {
    const inside = Object.entries({ ...good, ...changes });
    const files = inside.map(([path, content]) => [`node_modules/@agentfw/history-x/${path}`, content]);
    return loadProblems(write({ ...Object.fromEntries(files), ...others }), packed, ["a-peer"]);
  };

  it("is content when everything loads, and leaves out what needs an optional peer", async () => {
    expect(entriesOf(packed)).toEqual(["@agentfw/history-x", "@agentfw/history-x/more"]);
    expect(await load({})).toEqual([]);
    expect(await load({ "dist/chunk.js": 'throw new Error("loaded all the same");' })).toEqual([
      expect.stringMatching(/^it does not load .*\/more cannot be imported: loaded all the same/),
    ]);
  });

  it.each([
    ["an entry that exports nothing", { "dist/index.js": "" }, /history-x exports nothing/],
    ["an engine that is missing", { "dist/index.js": 'import "./engine-0.js";' }, /Cannot find module .*engine-0\.js/],
    [
      "an engine that is missing until it is called",
      { "dist/engine.js": undefined },
      /Cannot find module .*dist\/engine\.js/,
    ],
    ["an engine that throws", { "dist/engine.js": 'throw new Error("broken");' }, /\.\/dist\/engine\.js .*: broken/],
    [
      "an engine that ends the process",
      { "dist/engine.js": "process.exit(0);" },
      /ended while it was loaded, with code 0/,
    ],
    ["an engine that never loads", { "dist/engine.js": "await new Promise(() => {});" }, /code 13/],
    ["a file that nothing imports", { "dist/other.js": "throw 1;" }, /\.\/dist\/other\.js cannot be imported: 1/],
    ["a command that fails", { "dist/cli.js": "process.exit(2);" }, /x-tool --help ended with code 2/],
    ["a command that does nothing", { "dist/cli.js": "" }, /x-tool --help ended with code 0/],
  ])("tells of %s", async (_, changes, problem) => {
    expect(await load(changes)).toEqual([expect.stringMatching(problem)]);
  });

  it("tells of a driver that is imported on demand and was not installed", async () => {
    expect(await load({}, {})).toEqual([expect.stringMatching(/a-driver cannot be imported: Cannot find package/)]);
  });
});
