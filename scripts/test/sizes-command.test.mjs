import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { run } from "../lib/run.mjs";
import { root } from "../lib/workspace.mjs";
import { manifest, randomText, write } from "./workspace-fixture.mjs";

describe("the command", { timeout: 120_000 }, () => {
  const busy =
    "const from = process.cpuUsage();\nconst spent = ({ user, system }) => user + system;\nwhile (spent(process.cpuUsage(from)) < 100_000);\n";

  /** A checkout with one packed package, with these scripts and their tools. */
  function checkout() {
    const { publishConfig, ...fields } = manifest("history-one", {});
    const folder = write({
      "docs/sizes.md": "",
      "packages/history-one/package.json": { ...fields, publishConfig },
      "packages/history-one/.pack/package/package.json": { ...fields, exports: publishConfig.exports },
      "packages/history-one/.pack/package/dist/index.js": "export const one = 1;\n",
    });
    cpSync(join(root, "scripts"), join(folder, "scripts"), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
    const table = join(folder, "docs/sizes.md");
    const code = join(folder, "packages/history-one/.pack/package/dist/index.js");
    const sizes = (...flags) => run(process.execPath, ["scripts/sizes.mjs", "--packed", ...flags], { cwd: folder });
    return { table, code, sizes };
  }

  it("refuses to write that an import costs more than is promised", async () => {
    const { table, code, sizes } = checkout();
    writeFileSync(code, `${busy}export const one = 1;\n`);
    const { code: exit, output } = await sizes("--write");
    expect(output).toMatch(/@agentfw\/history-one costs .* ms more than its drivers alone.*half of the rounds/);
    expect(exit).toBe(1);
    expect(readFileSync(table, "utf8")).toBe("");
  });

  it("accepts what it wrote, and neither other prose nor what an import awaits", async () => {
    const { table, code, sizes } = checkout();
    expect(await sizes("--write")).toMatchObject({ code: 0 });
    expect(await sizes()).toMatchObject({ code: 0 });
    const written = readFileSync(table, "utf8");
    expect(await sizes("--write", "--keep-times")).toMatchObject({ code: 0 });
    expect(readFileSync(table, "utf8")).toBe(written);
    const sound = readFileSync(code, "utf8");
    writeFileSync(code, `${busy}${sound}`);
    const slower = await sizes("--write", "--keep-times");
    expect(slower.output).toContain("more than its drivers alone");
    expect(slower.code).toBe(1);
    expect(readFileSync(table, "utf8")).toBe(written);
    writeFileSync(code, sound);
    writeFileSync(table, written.replace("\n15 ms", "\n1500 ms"));
    const changed = await sizes();
    expect(changed.output).toContain('says "1500 ms');
    expect(changed.code).toBe(1);
    writeFileSync(table, written);
    writeFileSync(join(code, "..", "engine.js"), `export const text = "${randomText(30_000)}";\n`);
    writeFileSync(code, 'export const { text } = await import("./engine.js");\n');
    const awaited = await sizes();
    expect(awaited.output).toMatch(/@agentfw\/history-one weighs \d+ bytes, minified and gzipped; the limit is 8192/);
    expect(awaited.code).toBe(1);
  });
});
