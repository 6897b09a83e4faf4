import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkPackages } from "../check-packages.mjs";
import { allowedDependencies } from "../lib/rules/dependencies.mjs";
import { readJson, root } from "../lib/workspace.mjs";
import { goodWorkspace, write } from "./workspace-fixture.mjs";

/** What the rules say about the good workspace with some files changed. */
function problemsWith(changes) {
  return checkPackages(write({ ...goodWorkspace(), ...changes }));
}

/** The good workspace's package.json of a package, changed. */
function changed(folder, change) {
  const path = `packages/${folder}/package.json`;
  const manifest = structuredClone(goodWorkspace()[path]);
  change(manifest);
  return { [path]: manifest };
}

const lines = (count) => "const a = 1;\n".repeat(count);
const workspace = { "@agentfw/core": "workspace:*" };

it("finds nothing in a workspace that keeps the rules", () => {
  expect(problemsWith({})).toEqual([]);
});

describe("who may know whom", () => {
  const backend = (field, name) =>
    changed("history-file", (manifest) => (manifest[field] = { ...manifest[field], [name]: "workspace:*" }));
  it.each([
    [
      "core has a dependency",
      changed("core", (m) => (m.dependencies = { zod: "^4" })),
      "core has no dependencies, and dependencies names zod",
    ],
    ["core has a peer", changed("core", (m) => (m.peerDependencies = { zod: "^4" })), "peerDependencies names zod"],
    [
      "core uses the kit in its tests",
      changed("core", (m) => (m.devDependencies = { "@agentfw/provider-testing": "*" })),
      "must not name @agentfw/provider-testing",
    ],
    ["a backend depends on core", backend("dependencies", "@agentfw/core"), "dependencies must not name @agentfw/core"],
    [
      "a backend depends on the agent",
      backend("dependencies", "@agentfw/agent"),
      "dependencies must not name @agentfw/agent",
    ],
    [
      "a backend has the agent as a peer",
      backend("peerDependencies", "@agentfw/agent"),
      "peerDependencies must not name @agentfw/agent",
    ],
    [
      "a backend tests with another backend",
      backend("devDependencies", "@agentfw/history-other"),
      "devDependencies must not name @agentfw/history-other",
    ],
    [
      "a backend has the kit as a peer",
      backend("peerDependencies", "@agentfw/provider-testing"),
      "must not name @agentfw/provider-testing",
    ],
    [
      "the agent depends on a backend",
      changed("agent", (m) => (m.devDependencies = { "@agentfw/history-file": "*" })),
      "must not name @agentfw/history-file",
    ],
    [
      "the openai client depends on the agent",
      changed("openai", (m) => (m.dependencies["@agentfw/agent"] = "*")),
      "dependencies must not name @agentfw/agent",
    ],
    [
      "the kit knows a backend",
      changed("provider-testing", (m) => (m.devDependencies = { "@agentfw/history-file": "*" })),
      "must not name @agentfw/history-file",
    ],
    [
      "the kit knows the agent",
      changed("provider-testing", (m) => (m.devDependencies = { "@agentfw/agent": "*" })),
      "must not name @agentfw/agent",
    ],
    [
      "the scaffolder depends on core",
      changed("create-provider", (m) => (m.dependencies = { "@agentfw/core": "*" })),
      "dependencies must not name @agentfw/core",
    ],
    [
      "the scaffolder knows a backend",
      changed("create-provider", (m) => (m.devDependencies = { "@agentfw/history-file": "*" })),
      "must not name @agentfw/history-file",
    ],
    [
      "a published package depends on a private one",
      backend("dependencies", "@agentfw/test-servers"),
      "must not name @agentfw/test-servers",
    ],
    [
      "core is no peer",
      changed("history-file", (m) => (m.peerDependencies = {})),
      "peerDependencies must name @agentfw/core",
    ],
    [
      "the floor moves with the workspace",
      changed("history-file", (m) => (m.peerDependencies = workspace)),
      "must be a literal floor",
    ],
    [
      "an app could be published",
      { "apps/quickstart/package.json": { name: "@agentfw/quickstart" } },
      "must be private",
    ],
    ["a folder fits no kind", { "packages/utils/package.json": { name: "@agentfw/utils" } }, "fits no kind"],
  ])("refuses: %s", (_, changes, expected) => {
    expect(problemsWith(changes)).toEqual([expect.stringContaining(expected)]);
  });

  it.each(["history", "state", "file", "memory", "context", "chat-client"])("takes %s-x for a provider", (kind) => {
    expect(problemsWith({ [`packages/${kind}-x/package.json`]: { name: `@agentfw/${kind}-x` } })).toContain(
      `packages/${kind}-x: test/contract.test.ts is missing`,
    );
  });

  it("lets a backend's tests use core, the agent, the kit and the test servers", () => {
    const devDependencies = Object.fromEntries(
      ["core", "agent", "provider-testing", "test-servers"].map((name) => [`@agentfw/${name}`, "*"]),
    );
    expect(problemsWith(changed("history-file", (manifest) => (manifest.devDependencies = devDependencies)))).toEqual(
      [],
    );
  });
});

describe("the shape of a package", () => {
  it.each([
    ["README.md"],
    ["LICENSE"],
    ["tsconfig.json"],
    ["tsdown.config.ts"],
    ["vitest.config.ts"],
    ["src/index.ts"],
    ["test/contract.test.ts"],
  ])("misses %s", (file) => {
    expect(problemsWith({ [`packages/history-file/${file}`]: undefined })).toEqual([
      `packages/history-file: ${file} is missing`,
    ]);
  });

  it.each([
    ["name", (m) => (m.name = "@agentfw/file-history")],
    ["type", (m) => (m.type = "commonjs")],
    ["sideEffects", (m) => delete m.sideEffects],
    ["license", (m) => (m.license = "ISC")],
    ["description", (m) => delete m.description],
    ['"agentfw-provider"', (m) => (m.keywords = ["agentfw"])],
    ["repository.directory", (m) => delete m.repository],
    ["engines.node", (m) => (m.engines.node = ">=18")],
    ["files", (m) => (m.files = ["dist", "src"])],
    ["files", (m) => (m.files = ["dist", "template"])],
    ["publishConfig.access", (m) => delete m.publishConfig.access],
    ['exports["."]', (m) => (m.exports["."] = "./dist/index.js")],
    ["main, module and types", (m) => (m.main = "./dist/index.js")],
    ["the entries of exports", (m) => (m.exports["./extra"] = "./src/extra.ts")],
    [
      "types, then default",
      (m) => (m.publishConfig.exports["."] = { default: "./dist/index.js", types: "./dist/index.d.ts" }),
    ],
  ])("checks %s in package.json", (expected, change) => {
    expect(problemsWith(changed("history-file", change))).toEqual([expect.stringContaining(expected)]);
  });
});

describe("imports", () => {
  const source = (text, file = "packages/history-file/src/index.ts") => problemsWith({ [file]: text });
  it.each([
    ["an undeclared module", 'import "left-pad";'],
    ["the agent in src", 'export { Agent } from "@agentfw/agent";'],
    ["another backend", 'import type { A } from "@agentfw/history-other";'],
    ["an import type", 'export type A = import("@agentfw/agent").Agent;'],
    ["a dynamic import", 'export const load = () => import("@agentfw/provider-testing");'],
    ["the sources of another package", 'import { a } from "../../core/src/index.ts";'],
    ["its own tests", 'import { a } from "../test/helper.ts";'],
    ["Node in core", 'import "node:fs";', "packages/core/src/index.ts"],
    ["Node in core by its old name", 'import "fs/promises";', "packages/core/src/index.ts"],
    ["an undeclared module in a test", 'import "left-pad";', "packages/agent/test/a.test.ts"],
    ["another package's sources in a test", 'import "../../core/src/index.ts";', "packages/agent/test/a.test.ts"],
  ])("refuses %s", (_, text, file) => {
    expect(source(text, file)).toHaveLength(1);
  });

  it.each([
    ["a peer", 'import { a } from "@agentfw/core";'],
    ["Node in a backend", 'import { b } from "node:fs";'],
    ["a file beside it", 'import { c } from "./c.ts";'],
    ["a dependency's subpath", 'import "openai/helpers";', "packages/openai/src/index.ts"],
    ["a development dependency in a test", 'import { it } from "vitest";', "packages/agent/test/a.test.ts"],
  ])("allows %s", (_, text, file) => {
    expect(source(text, file)).toEqual([]);
  });
});

describe("source text", () => {
  const sourceIn = (file, text) => problemsWith({ [`packages/${file}`]: text });
  it.each([
    ["any", "export const a: any = 1;"],
    ["any as an argument", "export type A = Map<string, any>;"],
    ["a non-null assertion", "export const a = process.env.A!;"],
    ["a default export", "export default 1;"],
    ["console", 'console.warn("hello");'],
    ["AbortSignal.any", "export const both = (a: AbortSignal) => AbortSignal.any([a, AbortSignal.timeout(5)]);"],
    ["a bare Error", 'throw new Error("no");'],
    ["a bare TypeError", 'throw new TypeError("no");'],
    ["a compiler suppression", "// @ts-ignore\nexport const a = 1;"],
    ["a long file", lines(301)],
    ["a long function", `export function long(): void {\n${lines(39)}}\n`],
    ["a long method", `export class A {\n  long(): void {\n${lines(39)}  }\n}\n`],
    ["a long closure in a function", `export function outer() {\n  return () => {\n${lines(39)}  };\n}\n`],
  ])("refuses %s", (_, text) => {
    expect(sourceIn("history-file/src/a.ts", text)).toHaveLength(1);
  });

  it.each([
    ["the word any in a comment", "// any of them\nexport const a = 1;"],
    ["a file of 300 lines", lines(300)],
    ["a function of 40 lines", `export function fits(): void {\n${lines(38)}}\n`],
    [
      "a factory of short functions",
      `export function outer() {\n${`  const f = () => {\n${lines(10)}  };\n`.repeat(6)}}\n`,
    ],
    ["a typed error", 'throw new AgentFrameworkError("conflict", "no");'],
  ])("allows %s", (_, text) => {
    expect(sourceIn("history-file/src/a.ts", text)).toEqual([]);
  });

  it("allows 60 lines where statements are built, and no more", () => {
    const statement = (count) => `export function statement(): void {\n${lines(count - 2)}}\n`;
    expect(sourceIn("history-file/src/schema.ts", statement(60))).toEqual([]);
    expect(sourceIn("history-file/src/schema.ts", statement(61))).toHaveLength(1);
  });

  it("lets the kit's command line print, and nothing else of the kit", () => {
    expect(sourceIn("provider-testing/src/cli.ts", "console.log(1);")).toEqual([]);
    expect(sourceIn("provider-testing/src/report.ts", "console.log(1);")).toHaveLength(1);
  });

  it("wants index.ts to list its exports", () => {
    expect(sourceIn("history-file/src/index.ts", 'export * from "./a.ts";')).toHaveLength(1);
    expect(sourceIn("history-file/src/index.ts", 'export * as all from "./a.ts";')).toHaveLength(1);
    expect(sourceIn("history-file/src/index.ts", 'export { a } from "./a.ts";')).toEqual([]);
  });
});

describe("what a package brings along", () => {
  const agentWith = (code, changes = {}) => ({
    ...changed("agent", (m) => (m.dependencies = { "@cfworker/json-schema": "^4.1.1", ...changes })),
    "packages/agent/src/index.ts": code,
  });
  const record = (text) => ({ "docs/decisions/2026-11-30-every-dependency-is-named.md": text });
  const use = 'import "@cfworker/json-schema";\n';

  it("accepts what is decided on and imported, at once, on demand or as a type", () => {
    for (const code of [use, 'export const a = () => import("@cfworker/json-schema");\n'])
      expect(problemsWith({ ...agentWith(code), ...record("`@cfworker/json-schema` is small") })).toEqual([]);
  });

  it("refuses what nothing in src imports", () => {
    expect(problemsWith({ ...agentWith(""), ...record("`@cfworker/json-schema`") })).toEqual([
      "packages/agent: package.json names @cfworker/json-schema, which nothing in src imports",
    ]);
  });

  it("refuses what the record does not name, or no record is there for", () => {
    const expected = [expect.stringContaining("every-dependency-is-named.md is to say why it brings")];
    expect(problemsWith({ ...agentWith(use), ...record("`json-schema`") })).toEqual(expected);
    expect(problemsWith(agentWith(use))).toEqual(expected);
  });

  it.each(["dependencies", "optionalDependencies", "peerDependencies"])("refuses a stranger in %s", (field) => {
    const stranger = changed("history-file", (m) => (m[field] = { ...m[field], "is-odd": "^3.0.1" }));
    const code = { "packages/history-file/src/a.ts": 'import "is-odd";\n' };
    expect(problemsWith({ ...stranger, ...code })).toEqual([
      expect.stringMatching(/^packages\/history-file: is-odd is nothing that it may bring along/),
    ]);
    expect(problemsWith(stranger)).toHaveLength(2);
  });

  it("refuses a driver that moved to the development dependencies", () => {
    const moved = changed("openai", (m) => {
      m.devDependencies = { ...m.devDependencies, ...m.dependencies };
      m.dependencies = undefined;
    });
    expect(problemsWith(moved)).toEqual([expect.stringContaining('"openai" is not a dependency or a peer')]);
  });

  it("allows nothing that no package has", () => {
    for (const [folder, names] of Object.entries(allowedDependencies)) {
      const { dependencies, peerDependencies } = readJson(join(root, "packages", folder, "package.json"));
      expect({ folder, names: Object.keys({ ...dependencies, ...peerDependencies }) }).toEqual({
        folder,
        names: expect.arrayContaining(Object.keys(names)),
      });
    }
  });
});

describe("tests", () => {
  it.each([
    "it.skip",
    "test.only",
    "describe.todo",
    "it.skipIf(true)",
    "describe.runIf(false)",
    "it.concurrent.only",
    "it.each([1]).skip",
  ])("refuses %s", (call) => {
    expect(problemsWith({ "packages/agent/test/a.test.ts": `${call}("title", () => {});` })).toHaveLength(1);
  });

  it("allows a method that happens to be called skip", () => {
    expect(problemsWith({ "packages/agent/test/a.test.ts": "cursor.skip(3);" })).toEqual([]);
  });
});

it("names the file and the line", () => {
  expect(problemsWith({ "packages/agent/src/a.ts": "\nexport const a: any = 1;\n" })).toEqual([
    "packages/agent/src/a.ts:2: no `any`",
  ]);
});
