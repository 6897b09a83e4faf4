import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  chatClientContract,
  contextProviderContract,
  fileStoreContract,
  historyStoreContract,
  stateStoreContract,
} from "@agentfw/provider-testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Outside, openOutside } from "./support/outside.ts";
import { type Ended, must, run } from "./support/programs.ts";

/** What a fresh project of a kind is about: its contract, and what nobody has written yet. */
const KINDS = [
  { kind: "history", contract: historyStoreContract, unwritten: ["append", "read"] },
  { kind: "state", contract: stateStoreContract, unwritten: ["create", "set", "get"] },
  { kind: "file", contract: fileStoreContract, unwritten: ["read", "write", "delete", "search"] },
  { kind: "context", contract: contextProviderContract, unwritten: ["beforeRun"] },
  { kind: "chat-client", contract: chatClientContract, unwritten: ["stream", "answerNext", "failNext"] },
] as const;

type Kind = (typeof KINDS)[number]["kind"];

const COMMAND = join(import.meta.dirname, "..", "dist", "cli.js");
const SAMPLES = join(import.meta.dirname, "fixtures");

let outside: Outside;

const project = (kind: Kind) => join(outside.folder, `agentfw-${kind}-sample`);

const first = (kind: Kind) => KINDS.find((one) => one.kind === kind)?.contract[0]?.id ?? "";

/** One thing for all kinds at once: most of the time they wait for programs to start. */
async function forAll<T>(task: (kind: Kind) => Promise<T>): Promise<ReadonlyMap<Kind, T>> {
  const entries = KINDS.map(async ({ kind }): Promise<[Kind, T]> => [kind, await task(kind)]);
  return new Map(await Promise.all(entries));
}

/** Compiles all projects with the options of one, which are those of all. One run takes little longer than one project. */
async function compile(): Promise<void> {
  const config = { extends: "./agentfw-history-sample/tsconfig.json", include: ["agentfw-*/**/*.ts"] };
  await writeFile(join(outside.folder, "tsconfig.json"), JSON.stringify(config));
  await must(process.execPath, [outside.tsc, "-p", "."], outside.folder);
}

beforeAll(async () => {
  outside = await openOutside();
  await forAll((kind) => must(process.execPath, [COMMAND, kind, "sample"], outside.folder));
}, 300_000);

afterAll(() => outside && rm(outside.folder, { recursive: true, force: true }));

describe("fresh projects", { timeout: 180_000 }, () => {
  let ended: ReadonlyMap<Kind, Ended>;

  beforeAll(async () => {
    ended = await forAll((kind) => run("npm", ["test"], project(kind)));
  }, 180_000);

  it("compile", compile);

  it.each(KINDS)("of kind $kind fail their first test run with a readable list of clauses", (expected) => {
    const { kind, contract, unwritten } = expected;
    const { code, output } = ended.get(kind) ?? { code: 0, output: "" };
    expect(code).toBe(1);
    const listed = [...output.matchAll(/^(FAILED|not covered) +([A-Z]\d\d) .+ \(.+\)$/gm)];
    const failed = listed.filter(([, outcome]) => outcome === "FAILED").map(([, , id]) => id);
    expect(failed.length).toBeGreaterThan(contract.length / 3);
    expect(contract.map(({ id }) => id)).toEqual(expect.arrayContaining(failed));
    for (const name of unwritten) {
      expect(output).toContain(`[${kind}-sample] ${name} is not written yet`);
    }
    // What is long is the list, not what stands between its lines.
    expect(output).not.toContain("notWritten");
    expect(output.split("\n").length).toBeLessThan(7 * contract.length);
  });
});

describe("projects whose methods are written", { timeout: 180_000 }, () => {
  let ended: ReadonlyMap<Kind, Ended>;

  beforeAll(async () => {
    await forAll((kind) => cp(join(SAMPLES, kind), project(kind), { recursive: true }));
    ended = await forAll((kind) => run("npm", ["test"], project(kind)));
  }, 180_000);

  it("compile", compile);

  it.each(KINDS)("of kind $kind pass", ({ kind, contract }) => {
    const { code, output } = ended.get(kind) ?? { code: 1, output: "" };
    expect(output).toMatch(/^sample, \w+: \d+ passed, 0 failed, \d+ not covered/m);
    // What is not covered is skipped, and everything else passes.
    expect(output).toMatch(new RegExp(`Tests +\\d+ passed.* \\(${contract.length + 1}\\)`));
    expect(code).toBe(0);
  });

  it("are opened by the kit's command as well", async () => {
    const command = join(outside.folder, "node_modules", "@agentfw", "provider-testing", "dist", "cli.js");
    const run = (kind: Kind) =>
      must(process.execPath, [command, join("test", "open.ts"), "--only", first(kind)], project(kind));
    for (const [kind, output] of await forAll(run)) {
      expect(output).toContain(`ok          ${first(kind)} `);
    }
  });

  it("become packages that install elsewhere with nothing but their own, and compile there", async () => {
    await outside.npm(["pack", "--silent"], project("history"));
    const elsewhere = join(outside.folder, "elsewhere");
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, "package.json"), '{ "private": true, "type": "module" }\n');
    const tarball = join(project("history"), "agentfw-history-sample-0.0.0.tgz");
    await outside.npm(["install", outside.tarball("core"), tarball], elsewhere);
    expect(await names(join(elsewhere, "node_modules"))).toEqual(["@agentfw", "agentfw-history-sample"]);
    const installed = await names(join(elsewhere, "node_modules", "agentfw-history-sample"));
    expect(installed).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
    await useIn(elsewhere);
  });
});

/** The names in a folder, in order, without those that npm keeps for itself. */
async function names(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !name.startsWith(".")).sort();
}

/** A program on the package, under both ways in which compilers look for modules. */
async function useIn(elsewhere: string): Promise<void> {
  await writeFile(
    join(elsewhere, "use.ts"),
    `import { SampleHistoryStore, type SampleHistoryStoreOptions } from "agentfw-history-sample";
const options: SampleHistoryStoreOptions = { timeoutMs: 1_000 };
const page = await new SampleHistoryStore(options).read({ owner: null, source: "s", session: "s" });
const count: number = page.records.length;
if (count !== 0) throw new Error("an empty store has records");
`,
  );
  const compilerOptions = { strict: true, target: "es2023", lib: ["es2023"], types: [], skipLibCheck: true };
  await writeFile(join(elsewhere, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["use.ts"] }));
  for (const [module, resolution] of [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ] as const) {
    const args = [outside.tsc, "-p", ".", "--module", module, "--moduleResolution", resolution];
    await must(process.execPath, args, elsewhere);
  }
  await must(process.execPath, ["use.js"], elsewhere);
}
