import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withReleaseCopy } from "../lib/release/copy.mjs";
import { dryRelease } from "../lib/release/dry.mjs";
import { planRelease } from "../lib/release/plan.mjs";
import { releaseText } from "../lib/release/text.mjs";
import { listPackages, root } from "../lib/workspace.mjs";
import { builtCheckout } from "./install-fixture.mjs";
import { changeset, commit, edit, git, repositoryAt } from "./release-fixture.mjs";

const plan = (folder) => withReleaseCopy((copy) => planRelease(copy, folder), folder);
const withCorePeer = listPackages().filter(
  ({ manifest }) => manifest.peerDependencies?.["@agentfw/core"] !== undefined,
);
const find = (releases, name) => releases.find((release) => release.name === `@agentfw/${name}`);

describe("what changesets makes of the packages that have core as a peer", () => {
  it.each([
    ["patch", "1.4.3"],
    ["minor", "1.5.0"],
  ])("a %s of core releases core alone and leaves every floor", async (step, version) => {
    const folder = repositoryAt();
    changeset(folder, "one", { core: step });
    const { releases, problems } = await plan(folder);
    expect(releases.map(({ name, from, to, bump }) => [name, from, to, bump])).toEqual([
      ["@agentfw/core", "1.4.2", version, step],
    ]);
    expect(problems).toEqual([]);
  });

  it("a major of core is a major of everybody, with the new floor", async () => {
    const folder = repositoryAt();
    changeset(folder, "one", { core: "major" });
    const { releases, problems } = await plan(folder);
    expect(problems).toEqual([]);
    expect(releases).toHaveLength(withCorePeer.length + 1);
    expect(find(releases, "history-redis")).toMatchObject({
      from: "1.1.0",
      to: "2.0.0",
      bump: "major",
      peers: [{ name: "@agentfw/core", from: "^1.4.0", to: "^2.0.0" }],
      reason: "its range left out @agentfw/core",
    });
  });

  it("a backend is released alone, and says which changesets are the reason", async () => {
    const folder = repositoryAt();
    changeset(folder, "quick", { "history-redis": "patch" }, "It is quicker.\n\nMore about it.");
    const { releases } = await plan(folder);
    expect(releases).toEqual([
      {
        name: "@agentfw/history-redis",
        directory: "packages/history-redis",
        from: "1.1.0",
        to: "1.1.1",
        bump: "patch",
        changesets: [{ id: "quick", bump: "patch", summary: "It is quicker." }],
        peers: [{ name: "@agentfw/core", from: "^1.4.0", to: "^1.4.0" }],
      },
    ]);
  });

  it("plans in a copy and leaves the checkout as it is", async () => {
    const folder = repositoryAt();
    changeset(folder, "one", { core: "minor" });
    await plan(folder);
    expect(JSON.parse(readFileSync(join(folder, "packages/core/package.json"), "utf8")).version).toBe("1.4.2");
    expect(readFileSync(join(folder, ".changeset/one.md"), "utf8")).toContain("minor");
  });
});

describe("what changesets makes of them while core is below 1.0.0", () => {
  const below = () => repositoryAt({ coreVersion: "0.1.0", version: "0.1.0", floor: "^0.1.0" });
  const others = withCorePeer.map(({ folder }) => folder);
  const setFloors = (folder, floor) => {
    for (const name of others) edit(folder, name, (manifest) => (manifest.peerDependencies["@agentfw/core"] = floor));
  };

  it("a patch of core releases core alone", async () => {
    const folder = below();
    changeset(folder, "one", { core: "patch" });
    const { releases, problems } = await plan(folder);
    expect(releases.map(({ name, to }) => [name, to])).toEqual([["@agentfw/core", "0.1.1"]]);
    expect(problems).toEqual([]);
  });

  it("a minor of core would make everybody 1.0.0, which is refused", async () => {
    const folder = below();
    changeset(folder, "one", { core: "minor", "history-redis": "patch" });
    const { releases, problems } = await plan(folder);
    expect(find(releases, "history-redis")).toMatchObject({ from: "0.1.0", to: "1.0.0" });
    expect(problems).toHaveLength(others.length);
    for (const name of others)
      expect(problems).toContainEqual(
        expect.stringContaining(`@agentfw/${name} would become 1.0.0, because @agentfw/core`),
      );
  });

  it("a minor of core with the new floors and a minor of everybody stays below 1.0.0", async () => {
    const folder = below();
    changeset(folder, "one", Object.fromEntries(["core", ...others].map((name) => [name, "minor"])));
    setFloors(folder, "^0.2.0");
    const { releases, problems } = await plan(folder);
    expect(problems).toEqual([]);
    expect(new Set(releases.map(({ to }) => to))).toEqual(new Set(["0.2.0"]));
    expect(find(releases, "history-redis").peers).toEqual([{ name: "@agentfw/core", from: "^0.2.0", to: "^0.2.0" }]);
  });

  it("1.0.0 is for those whose changeset says so", async () => {
    const folder = below();
    changeset(folder, "one", Object.fromEntries(["core", ...others].map((name) => [name, "major"])));
    const { releases, problems } = await plan(folder);
    expect(problems).toEqual([]);
    expect(new Set(releases.map(({ to }) => to))).toEqual(new Set(["1.0.0"]));
  });
});

it("packs what would be published, with its new version, and tells what is in it", async () => {
  const withTemplate = { code: "", manifest: { files: ["dist", "template"] }, more: { "template/one.txt": "1" } };
  const backends = { "history-file": { code: "" }, "history-template": withTemplate };
  const folder = builtCheckout({ core: "export const old = 1;\n", coreVersion: "1.4.2", backends });
  const config = join(folder, ".changeset");
  mkdirSync(config);
  cpSync(join(root, ".changeset", "config.json"), join(config, "config.json"));
  changeset(folder, "one", { core: "minor", "history-template": "patch" });
  git(folder, "init", "--quiet", "--initial-branch=main");
  commit(folder);
  const { releases, problems } = await dryRelease(folder);
  expect(problems).toEqual([]);
  expect(releases).toEqual([
    expect.objectContaining({
      name: "@agentfw/core",
      to: "1.5.0",
      tarball: {
        bytes: expect.any(Number),
        files: ["LICENSE", "README.md", "dist/index.d.ts", "dist/index.js", "package.json"],
      },
    }),
    expect.objectContaining({
      to: "1.0.1",
      tarball: expect.objectContaining({ files: expect.arrayContaining(["dist/index.js", "template/one.txt"]) }),
    }),
  ]);
});

it("tells people what would be published, why, and what must not be", () => {
  const release = {
    name: "@agentfw/history-redis",
    from: "1.1.0",
    to: "2.0.0",
    bump: "major",
    changesets: [{ id: "quick", bump: "patch", summary: "It is quicker." }],
    peers: [{ name: "@agentfw/core", from: "^1.4.0", to: "^2.0.0" }],
    tarball: { bytes: 2048, files: ["README.md", "dist/index.js"] },
  };
  expect(releaseText({ releases: [release], problems: ["it breaks"], notes: ["look"] })).toBe(
    [
      "1 packages would be published, 2.0 KB in all.",
      "",
      "@agentfw/history-redis  1.1.0 -> 2.0.0  (major)",
      "  patch, quick: It is quicker.",
      "  peer @agentfw/core ^1.4.0 -> ^2.0.0",
      "  2 files, 2.0 KB: README.md, dist/index.js",
      "",
      "Note: look.",
      "",
      "This release must not happen:",
      "- it breaks",
      "",
    ].join("\n"),
  );
  expect(releaseText({ releases: [], problems: [], notes: [] })).toBe(
    "Nothing would be published: there is no changeset.\n",
  );
});
