import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HOME } from "../src/folders.ts";

const execute = promisify(execFile);
const bundle = join(HOME, ".cache", "test-main.mjs");
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "agentfw-benchmarks-"));
  const esbuild: typeof import("esbuild") = createRequire(import.meta.url)("esbuild");
  await esbuild.build({
    entryPoints: [join(HOME, "src", "main.ts")],
    outfile: bundle,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
  });
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await rm(bundle, { force: true });
});

async function bench(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  try {
    const outcome = await execute(process.execPath, ["--expose-gc", bundle, ...args], { cwd: folder });
    return { code: 0, ...outcome };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: unknown; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

describe("the program", () => {
  it("shows its options", async () => {
    const { code, stdout } = await bench("--help");
    expect(code).toBe(0);
    expect(stdout).toContain("npm run bench -- OPTIONS");
  });

  it("measures what was selected, prints a table and writes the JSON file", async () => {
    const { code, stdout, stderr } = await bench(
      "--quick",
      "--only",
      "run/import",
      "--seed",
      "3",
      "--json",
      "rows.json",
    );
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("--seed 3 ");
    expect(stdout).toMatch(/^run +import +raw +[\d,.]+ +1\.00 +- +-$/m);
    expect(stdout).toMatch(/^run +import +agentfw +[\d,.]+ +-?[\d,.]+ +[\d,.]+ +[\d,.]+ +- +-$/m);
    const report: unknown = JSON.parse(await readFile(join(folder, "rows.json"), "utf8"));
    expect(report).toMatchObject({
      machine: { node: process.versions.node },
      quick: true,
      seed: 3,
      rows: [
        { backend: "run", job: "import", contender: "raw", ratioToRaw: 1 },
        { backend: "run", job: "import", contender: "agentfw" },
      ],
    });
  });

  it.each([
    [["--only", "nothing"], 2, "--only nothing"],
    [["--quick", "--only", "run/import", "--json", join("no", "such", "folder.json")], 1, "--json"],
  ])("ends %j with code %i and a reason, having measured nothing", async (args, expected, reason) => {
    const { code, stdout, stderr } = await bench(...args);
    expect(code).toBe(expected);
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain("    at ");
    expect(stdout).toBe("");
  });
});
