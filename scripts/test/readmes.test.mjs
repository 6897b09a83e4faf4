import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { allBlocks, pageProblems, sourceProblems, textProblems } from "../check-readmes.mjs";
import { typescriptBlocks } from "../lib/readmes/blocks.mjs";
import { clauseIds, clauseProblems } from "../lib/readmes/clauses.mjs";
import { extraPages, patternProblems } from "../lib/readmes/commands.mjs";
import { compileBlocks, sourcePaths } from "../lib/readmes/compile.mjs";
import { fenceProblems } from "../lib/readmes/fences.mjs";
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
      "text\n```ts\nconst a = 1;\n```\n\n```ts run\nawait b();\n```\n```sh\nnpm i\n```\n````md\n```ts\nno\n```\n````\n```ts\nc\n```";
    expect(typescriptBlocks(text)).toEqual([
      { line: 3, code: "const a = 1;", run: false },
      { line: 7, code: "await b();", run: true },
      { line: 18, code: "c", run: false },
    ]);
  });
});

describe("fences", () => {
  it.each(["", "sh", "sh run", "sql", "json", "text", "ts", "ts run", "ts from a/b.ts Name"])("takes %s", (info) => {
    expect(fenceProblems(`\`\`\`${info}\ncode\n\`\`\`\n`)).toEqual([]);
  });

  it.each(["tsx", "TypeScript", "typescript", "ts,run", "ts runs", "ts run now", "ts from a.ts", "js", "javascript"])(
    "refuses %s by its name",
    (info) => {
      expect(fenceProblems(`text\n\`\`\`${info}\ncode\n\`\`\`\n`)).toEqual([
        expect.stringContaining(`line 2: "${info}" is no kind of block`),
      ]);
    },
  );

  it("refuses spaces around the word, tildes, and a block without an end", () => {
    expect(fenceProblems("```ts from a.ts Key \n```")).toEqual([
      'line 1: there are spaces around "ts from a.ts Key" in the fence',
    ]);
    expect(fenceProblems("``` ts\n```")).toEqual(['line 1: there are spaces around "ts" in the fence']);
    expect(fenceProblems("~~~ts\n~~~")).toEqual(['line 1: the fence is "~~~"; write it with backticks']);
    expect(fenceProblems("```sh\na\n```\n\n```ts\nconst a: string = 1;\n")).toEqual([
      "line 5: the block that begins here has no end",
    ]);
  });
});

describe("pages", () => {
  const contract = { "docs/contract/history-store.md": "## H01 One\n\n## H74 Another\n" };
  const pick = (pattern) => `\`\`\`sh\nnpm ci\nnpx vitest run -t ${pattern}\n\`\`\`\n`;

  it("refuses a command of which some alternative is no clause", () => {
    expect(patternProblems(pick('"H01|H74"'), new Set(["H01", "H74"]))).toEqual([]);
    expect(patternProblems(pick('"H01|ZZZ"'), new Set(["H01"]))).toEqual(["line 3: it picks ZZZ, which is no clause"]);
    expect(patternProblems(pick("ZZZ"), new Set(["H01"]))).toHaveLength(1);
    expect(patternProblems(pick('"H01|"'), new Set(["H01"]))).toEqual(["line 3: it picks nothing, which is no clause"]);
  });

  it("looks at every page for its blocks, and at authoring pages for their commands", () => {
    const folder = write({
      ...contract,
      "docs/authoring/1.md": pick('"H01|H99"'),
      "docs/notes.md": "```ts\nlet a = 1;\n```\n",
      "packages/core/package.json": {},
      "packages/core/README.md": "```TypeScript\nlet a = 1;\n```\n",
      "packages/core/CHANGELOG.md": "```whatever\n",
      "SECURITY.md": "```ts from nowhere.ts Foo\ninterface Foo {}\n```\n",
    });
    expect(pageProblems(folder)).toEqual([
      "docs/authoring/1.md: line 3: it picks H99, which is no clause",
      "docs/notes.md: line 1: shows TypeScript where nothing compiles it",
      expect.stringContaining('packages/core/README.md: line 1: "TypeScript" is no kind of block'),
    ]);
    expect(sourceProblems(folder)).toEqual(["SECURITY.md: line 1: nowhere.ts exports no Foo"]);
  });

  it("knows the pages that clauses are written to, and refuses any other", () => {
    expect(extraPages(root)).toEqual([]);
    const writer = '  ["history-store", contractPage("HistoryStore", a, b)],\n';
    const extra = { "docs/contract/queue.md": "## Q01 One\n", "packages/provider-testing/test/docs.test.ts": writer };
    expect(extraPages(write({ ...contract, ...extra }))).toEqual([
      expect.stringContaining("docs/contract/queue.md: no clauses are written to it"),
    ]);
  });

  it("compares declarations in the README of a package too", () => {
    const readme = "```ts from a.ts Key\nexport type Key = number;\n```\n";
    const folder = write({ "a.ts": "export type Key = string;\n", "packages/core/README.md": readme });
    expect(sourceProblems(folder)).toEqual([
      expect.stringMatching(/^packages\/core\/README\.md: shows a declaration that the source has otherwise/),
    ]);
  });

  it("wants an example that runs in the README of every package", () => {
    const problems = (readme) =>
      textProblems(write({ ...goodWorkspace(), "packages/agent/README.md": readme })).filter((problem) =>
        /agent\/README\.md: no example/.test(problem),
      );
    const text = readme("agent", ["Install", "Use"]);
    expect(problems(text)).toEqual(["packages/agent/README.md: no example in it is run: ```ts run"]);
    expect(problems(`${text}\n\`\`\`ts\nlet a = 1;\n\`\`\`\n`)).toHaveLength(1);
    expect(problems(`${text}\n\`\`\`ts run\nlet a = 1;\n\`\`\`\n`)).toEqual([]);
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

  it("reports an assertion that does not hold, over which Node goes on", async () => {
    expect(await compile("console.assert(1 === 1);", true)).toEqual([]);
    expect(await compile('console.assert(Number("1") === 2, "two");', true)).toEqual([
      "README.md:20: the example found that something does not hold:\nAssertion failed: two\n",
    ]);
  });

  it("gives an example the server that it names, and no key of the person's", async () => {
    vi.stubEnv("OPENAI_API_KEY", "costs-money");
    onTestFinished(() => vi.unstubAllEnvs());
    const lines = [
      'const base = process.env["OPENAI_BASE_URL"] ?? "";',
      'if (!base.startsWith("http://127.0.0.1:") || process.env["OPENAI_API_KEY"] === "costs-money") process.exit(3);',
    ];
    expect(await compile(lines.join("\n"), true)).toEqual([]);
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
