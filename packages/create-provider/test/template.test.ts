import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nameProvider, providerKinds, renderProvider } from "../src/index.ts";
import { versions } from "../src/versions.ts";
import { readManifest } from "./support/outside.ts";
import { admits, releaseVersion } from "./support/versions.ts";

const PACKAGES = join(import.meta.dirname, "..", "..");

describe.each(providerKinds)("the template of %s", (kind) => {
  const names = nameProvider({ kind, name: "sqlite" });
  const render = () => renderProvider(names, 2031);

  it("leaves no token and no part behind, in paths and in texts", async () => {
    for (const [path, text] of await render()) {
      expect(`${path}\n${text}`).not.toMatch(/__[a-zA-Z]+__/);
      expect(path).not.toMatch(/^(parts\/|_)/);
      expect(text.endsWith("\n") && !text.endsWith("\n\n")).toBe(true);
    }
  });

  it("has the ten headings of a provider's README, in their order", async () => {
    const readme = (await render()).get("README.md") ?? "";
    expect(readme.match(/^#{1,2} .+$/gm)).toEqual([
      `# agentfw-${kind}-sqlite`,
      "## Install",
      "## Use",
      "## What it guarantees",
      "## What it does not",
      "## Options",
      "## When things fail",
      "## Stored layout",
      "## Security",
      "## Upgrading",
    ]);
    expect(readme.split("\n").length).toBeLessThan(150);
  });

  it("has core as a peer with a literal floor, the kit for its tests, and the keyword by which providers are found", async () => {
    const manifest = JSON.parse((await render()).get("package.json") ?? "");
    expect(manifest).toMatchObject({
      name: `agentfw-${kind}-sqlite`,
      peerDependencies: { "@agentfw/core": versions.core },
      devDependencies: { "@agentfw/core": versions.core, "@agentfw/provider-testing": versions.kit },
      keywords: ["agentfw", "agentfw-provider", kind, "sqlite"],
    });
    expect(manifest.dependencies).toBeUndefined();
  });

  it("has the class and its options exported, a license of this year, and every test in its place", async () => {
    const files = await render();
    expect(files.get("src/index.ts")).toContain(`export { ${names.className} } from "./${names.fileName}.ts";`);
    expect(files.get("src/index.ts")).toContain(`${names.className}Options`);
    expect(files.get("LICENSE")).toContain("Copyright (c) 2031 <your name>");
    expect([...files.keys()]).toEqual(expect.arrayContaining([`src/${names.fileName}.ts`, "test/contract.test.ts"]));
  });
});

describe("the versions in the template", () => {
  it.each([
    ["core", "core"],
    ["provider-testing", "kit"],
  ] as const)(
    "admit the %s of the next release; else raise them in src/versions.ts, with a changeset",
    async (folder, key) => {
      const { version } = await readManifest(join(PACKAGES, folder));
      expect({ range: versions[key], version, admits: admits(versions[key], releaseVersion(version)) }).toMatchObject({
        admits: true,
      });
    },
  );

  it("admit the tools that this workspace is tested with", async () => {
    const files = await renderProvider(nameProvider({ kind: "history", name: "sqlite" }));
    const tools: Record<string, string> = JSON.parse(files.get("package.json") ?? "").devDependencies;
    const catalog = await readFile(join(PACKAGES, "..", "pnpm-workspace.yaml"), "utf8");
    for (const name of ["@changesets/cli", "@types/node", "typescript", "vitest"]) {
      const version = new RegExp(`^  "?${name}"?: \\^?(\\S+)$`, "m").exec(catalog)?.[1] ?? "none";
      expect({ name, range: tools[name], version, admits: admits(tools[name] ?? "", version) }).toMatchObject({
        admits: true,
      });
    }
  });

  it.each([
    ["^0.1.0", "0.1.0", true],
    ["^0.1.0", "0.1.9", true],
    ["^0.1.0", "0.2.0", false],
    ["^0.1.3", "0.1.2", false],
    ["^1.2.3", "1.2.3", true],
    ["^1.2.3", "1.10.0", true],
    ["^1.2.3", "1.2.2", false],
    ["^1.2.3", "2.0.0", false],
    ["1.2.3", "1.2.3", false],
  ])("are told by a rule that holds: %s and %s", (range, version, expected) => {
    expect(admits(range, version)).toBe(expected);
  });
});
