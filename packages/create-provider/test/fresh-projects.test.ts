import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileStoreContract, historyStoreContract, stateStoreContract } from "@agentfw/provider-testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Outside, openOutside } from "./support/outside.ts";
import { must, run } from "./support/programs.ts";

/** What a fresh project of a kind is about: its contract, and the methods that nobody has written yet. */
const KINDS = [
  { kind: "history", contract: historyStoreContract, methods: ["append", "read"] },
  { kind: "state", contract: stateStoreContract, methods: ["create", "set", "get"] },
  { kind: "file", contract: fileStoreContract, methods: ["read", "write", "delete", "search"] },
];

const COMMAND = join(import.meta.dirname, "..", "dist", "cli.js");
const TSC = join("node_modules", "typescript", "bin", "tsc");
const SAMPLES = join(import.meta.dirname, "fixtures");

let outside: Outside;

beforeAll(async () => {
  outside = await openOutside();
}, 180_000);

afterAll(() => outside && rm(outside.folder, { recursive: true, force: true }));

describe.each(KINDS)("a fresh project of kind $kind", { timeout: 120_000 }, ({ kind, contract, methods }) => {
  const project = () => join(outside.folder, `agentfw-${kind}-sample`);

  it("compiles, and its first test run fails with the list of clauses", async () => {
    await must(process.execPath, [COMMAND, kind, "sample"], outside.folder);
    await must(process.execPath, [join(outside.folder, TSC), "-p", "."], project());
    const { code, output } = await run("npm", ["test"], project());
    expect(code).toBe(1);
    const listed = [...output.matchAll(/^(FAILED|not covered) +([A-Z]\d\d) .+ \(.+\)$/gm)];
    const failed = listed.filter(([, outcome]) => outcome === "FAILED").map(([, , id]) => id);
    expect(failed.length).toBeGreaterThan(contract.length / 2);
    expect(contract.map(({ id }) => id)).toEqual(expect.arrayContaining(failed));
    for (const method of methods) {
      expect(output).toContain(`[${kind}-sample] ${method} is not written yet`);
    }
    // What is long is the list, not what stands between its lines.
    expect(output).not.toContain("notWritten");
    expect(output.split("\n").length).toBeLessThan(6 * contract.length);
  });

  it("passes once the methods are written", async () => {
    await cp(join(SAMPLES, kind), project(), { recursive: true });
    await must(process.execPath, [join(outside.folder, TSC), "-p", "."], project());
    const output = await must("npm", ["test"], project());
    expect(output).toMatch(/^sample, \w+: \d+ passed, 0 failed, \d+ not covered$/m);
    expect(output).toMatch(new RegExp(`Tests +${contract.length + 1} passed`));
  });
});

it("builds a package that installs and compiles elsewhere, with nothing in it but its own", {
  timeout: 120_000,
}, async () => {
  const project = join(outside.folder, "agentfw-history-sample");
  await outside.npm(["pack", "--silent"], project);
  const elsewhere = join(outside.folder, "elsewhere");
  await mkdir(elsewhere);
  await writeFile(join(elsewhere, "package.json"), '{ "private": true, "type": "module" }\n');
  await outside.npm(["install", outside.tarball("core"), join(project, "agentfw-history-sample-0.0.0.tgz")], elsewhere);
  const installed = join(elsewhere, "node_modules", "agentfw-history-sample");
  expect((await readdir(installed)).sort()).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
  expect((await readdir(join(elsewhere, "node_modules"))).filter((name) => !name.startsWith(".")).sort()).toEqual([
    "@agentfw",
    "agentfw-history-sample",
  ]);
  await writeFile(
    join(elsewhere, "use.ts"),
    `import { SampleHistoryStore, type SampleHistoryStoreOptions } from "agentfw-history-sample";
const options: SampleHistoryStoreOptions = { timeoutMs: 1_000 };
const page = await new SampleHistoryStore(options).read({ owner: null, source: "s", session: "s" });
console.log(page.records.length);
`,
  );
  const tsc = join(outside.folder, TSC);
  const flags = ["--strict", "--target", "es2023", "--outDir", "out", "--types", "node"];
  for (const [module, resolution] of [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ] as const) {
    const args = [tsc, "use.ts", "--module", module, "--moduleResolution", resolution, ...flags];
    await must(process.execPath, args, elsewhere);
  }
  expect(await must(process.execPath, [join("out", "use.js")], elsewhere)).toBe("0\n");
});
