import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { allBlocks, textProblems } from "../check-readmes.mjs";
import { typescriptBlocks } from "../lib/readmes/blocks.mjs";
import { clauseIds, clauseProblems } from "../lib/readmes/clauses.mjs";
import { compileBlocks, sourcePaths } from "../lib/readmes/compile.mjs";
import { headingProblems } from "../lib/readmes/headings.mjs";
import { withReports } from "../lib/readmes/reports.mjs";
import { declaration, withSources } from "../lib/readmes/sources.mjs";
import { versionProblems } from "../lib/readmes/versions.mjs";
import { root } from "../lib/workspace.mjs";
import { goodWorkspace, write } from "./workspace-fixture.mjs";

const backend = { group: "packages", folder: "history-file", manifest: { name: "@agentfw/history-file" } };
const runtime = { group: "packages", folder: "agent", manifest: { name: "@agentfw/agent" } };
const headings = [
  "Install",
  "Use",
  "What it guarantees",
  "What it does not",
  "Options",
  "When things fail",
  "Stored layout",
  "Security",
  "Upgrading",
];

function readme(name, list) {
  return [`# @agentfw/${name}`, ...list.map((heading) => `## ${heading}\n\ntext\n`)].join("\n\n");
}

describe("headings", () => {
  it("accepts the ten headings of a backend and the two of any other package", () => {
    expect(headingProblems(backend, readme("history-file", headings))).toEqual([]);
    expect(headingProblems(runtime, readme("agent", ["Install", "Use", "Tools"]))).toEqual([]);
  });

  it.each(headings)("misses %s", (heading) => {
    const rest = headings.filter((one) => one !== heading);
    expect(headingProblems(backend, readme("history-file", rest))).toEqual([`the heading "## ${heading}" is missing`]);
  });

  it("wants them in order, under the package's name, in 150 lines", () => {
    expect(headingProblems(backend, readme("history-file", headings.toReversed()))).toHaveLength(1);
    expect(headingProblems(runtime, readme("core", ["Install", "Use"]))).toEqual([
      'its title must be "# @agentfw/agent"',
    ]);
    expect(headingProblems(runtime, readme("agent", ["Install", "Use"]) + "more\n".repeat(150))).toHaveLength(1);
  });

  it("does not take a comment in an example for a heading", () => {
    expect(headingProblems(runtime, readme("agent", ["Install"]).concat("\n```sh\n## Use\n```\n"))).toHaveLength(1);
  });
});

describe("the texts of a checkout", () => {
  it("names every README that is missing, but asks none of an app", () => {
    expect(
      textProblems(write({ ...goodWorkspace(), "packages/core/README.md": undefined, "README.md": undefined })),
    ).toEqual(expect.arrayContaining(["README.md is missing", "packages/core/README.md is missing"]));
    expect(textProblems(write(goodWorkspace())).filter((problem) => problem.startsWith("apps/"))).toEqual([]);
  });

  it("collects the examples of the root, of packages and of apps", () => {
    const example = "```ts\nexport {};\n```\n";
    const folder = write({
      "README.md": example,
      "packages/core/package.json": {},
      "packages/core/README.md": example,
      "apps/a/package.json": {},
      "apps/a/README.md": example,
    });
    expect(allBlocks(folder).map(({ readme: file }) => file)).toEqual(
      ["README.md", "packages/core/README.md", "apps/a/README.md"].map((file) => join(folder, file)),
    );
  });
});

describe("blocks", () => {
  it("finds TypeScript blocks, their first line and whether they run", () => {
    const text =
      "text\n```ts\nconst a = 1;\n```\n\n```ts run\nawait b();\n```\n```sh\nnpm i\n```\n````md\n```ts\nno\n```\n````\n```typescript\nc\n```";
    expect(typescriptBlocks(text)).toEqual([
      { line: 3, code: "const a = 1;", run: false },
      { line: 7, code: "await b();", run: true },
      { line: 18, code: "c", run: false },
    ]);
  });
});

describe("compiling", () => {
  const compile = (code, run = false) =>
    compileBlocks(
      [{ readme: join(root, "README.md"), home: join(root, "scripts"), line: 20, code, run }],
      "readmes-test",
    );

  it("reports a type error at the README's own line", async () => {
    expect(await compile('export const a = 1;\nexport const b: number = "no";')).toEqual([
      expect.stringMatching(/^README\.md:21: error TS2322/),
    ]);
  });

  it("reports a module that is not there", async () => {
    expect(await compile('import "@agentfw/nowhere";')).toEqual([expect.stringMatching(/^README\.md:20: error TS/)]);
  });

  it("accepts an example with unused names and does not run it unless asked", async () => {
    expect(await compile("const unused = 1;\nprocess.exit(3);")).toEqual([]);
  });

  it("runs an example that asks for it and reports its exit code and its output", async () => {
    expect(await compile('process.stdout.write("ran");', true)).toEqual([]);
    expect(await compile('process.stdout.write("before");\nprocess.exit(3);', true)).toEqual([
      "README.md:20: the example ended with code 3:\nbefore",
    ]);
  });

  it("resolves every entry of a package to its source", () => {
    expect(sourcePaths()).toMatchObject({
      "@agentfw/core": [join(root, "packages", "core", "src", "index.ts")],
      "@agentfw/provider-testing/vitest": [join(root, "packages", "provider-testing", "src", "vitest.ts")],
    });
  });
});

describe("declarations in pages", () => {
  const source = [
    "/** Doc. */",
    "export interface Key {",
    "  readonly id: string;",
    "}",
    "export type Code =",
    '  | "a"',
    '  | "b";',
    "export type Short = string;",
    "export function work(",
    "  key: Key,",
    "): void {",
    "  done();",
    "}",
  ].join("\n");

  it("are taken whole, whatever their form", () => {
    expect(declaration(source, "Key")).toBe("export interface Key {\n  readonly id: string;\n}");
    expect(declaration(source, "Code")).toBe('export type Code =\n  | "a"\n  | "b";');
    expect(declaration(source, "Short")).toBe("export type Short = string;");
    expect(declaration(source, "Ke")).toBeUndefined();
  });

  it("are renewed in a page, each at its place, and what is not there is told", () => {
    const base = mkdtempSync(join(tmpdir(), "agentfw-pages-"));
    onTestFinished(() => rmSync(base, { recursive: true, force: true }));
    writeFileSync(join(base, "a.ts"), source);
    const fence = (name, ...lines) => [`\`\`\`ts from a.ts ${name}`, ...lines, "```"];
    const page = ["# Page", ...fence("Short", "old"), "between", ...fence("Key"), "end"].join("\n");
    const { text, problems } = withSources(page, base);
    expect(problems).toEqual([]);
    expect(text.split("\n")).toEqual([
      "# Page",
      ...fence("Short", "export type Short = string;"),
      "between",
      ...fence("Key", "export interface Key {", "  readonly id: string;", "}"),
      "end",
    ]);
    expect(withSources(text, base).text).toBe(text);
    expect(withSources(fence("Gone").join("\n"), base).problems).toEqual(["line 1: a.ts exports no Gone"]);
    expect(withSources(fence("Key").join("\n").replace("a.ts", "b.ts"), base).problems).toHaveLength(1);
  });

  it("are no blocks that are compiled once more", () => {
    expect(typescriptBlocks("```ts from a.ts Key\nexport interface Key {}\n```\n```ts\nlet a = 1;\n```")).toHaveLength(
      1,
    );
  });
});

describe("reports in pages", () => {
  const store = `
import { InMemoryHistoryStore } from "@agentfw/core";
export const name = "a store";
export const openHistoryStore = async () => ({ store: new InMemoryHistoryStore() });
`;
  const page = (...lines) => ["# Page", "```text from a.ts H02", ...lines, "```", "end"].join("\n");

  it("are what the kit prints about the store", async () => {
    const base = write({ "a.ts": store });
    const { text, problems } = await withReports(page("old", "lines"), base);
    expect(problems).toEqual([]);
    expect(text).toMatch(/^# Page\n.*\na store: the contract of HistoryStore\n {2}ok {10}H02 .*1 passed.*\n```\nend$/s);
    expect((await withReports(text, base)).text).toBe(text);
  });

  it("tell what there is no report of", async () => {
    expect((await withReports(page(), write({}))).problems).toEqual(["line 2: there is no a.ts"]);
    const { problems } = await withReports(page().replace("H02", "H00"), write({ "a.ts": store }));
    expect(problems).toEqual([expect.stringMatching(/^line 2: the kit ended with 2: No such clause: H00/)]);
  });
});

it("a page names no clause that there is none of", () => {
  const ids = clauseIds(
    write({ "docs/contract/history-store.md": "# The contract\n\n## H01 One\n\ntext H03\n\n## H02 Two\n" }),
  );
  expect(clauseProblems("`H01,H02`\nH01 to H03, and `X99`, sha M1024", ids)).toEqual([
    "line 2: there is no clause H03",
  ]);
});

describe("versions in pages", () => {
  const known = new Map([
    ["@agentfw/core", "^0.1.0"],
    ["driver", "^2.0.0"],
  ]);

  it("are those of a new project", () => {
    expect(versionProblems('"@agentfw/core": "^0.1.0", "driver": "^2.0.0"\n`^0.1.0`, version 1.0', known)).toEqual([]);
    expect(versionProblems('one\n"@agentfw/core": "^1.0.0"', known)).toEqual([
      "line 2: @agentfw/core is ^1.0.0 here, and ^0.1.0 in a new project",
    ]);
    expect(versionProblems("as a peer, `^1.0.0` say", known)).toHaveLength(1);
    expect(versionProblems('"driver": "^1.0.0", "other": "^3.0.0"', known)).toHaveLength(2);
  });
});
