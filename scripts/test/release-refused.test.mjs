import { cpSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withReleaseCopy } from "../lib/release/copy.mjs";
import { planRelease } from "../lib/release/plan.mjs";
import { run } from "../lib/run.mjs";
import { listPackages, root } from "../lib/workspace.mjs";
import { changeset, commit, edit, git, repositoryAt } from "./release-fixture.mjs";
import { write } from "./workspace-fixture.mjs";

const plan = (folder) => withReleaseCopy((copy) => planRelease(copy, folder), folder);
const withCorePeer = listPackages().filter(
  ({ manifest }) => manifest.peerDependencies?.["@agentfw/core"] !== undefined,
);
const find = (releases, name) => releases.find((release) => release.name === `@agentfw/${name}`);

describe("a floor that was written by hand", () => {
  const floor = (range) => (manifest) => (manifest.peerDependencies["@agentfw/core"] = range);

  it.each([
    ["1.4.2", "1.1.0", "^1.4.0", "^1.5.0", "patch", "^1.4.3"],
    ["0.1.0", "0.1.0", "^0.1.0", "^0.2.0", "patch", "^0.1.1"],
    ["0.0.0", "0.0.0", "^0.1.0", "^1.0.0", "minor", "^0.1.0"],
  ])("is not lowered by a release of core %s", async (coreVersion, version, old, raised, step, written) => {
    const folder = repositoryAt({ coreVersion, version, floor: old });
    edit(folder, "history-file", floor(raised));
    changeset(folder, "one", { core: step, "history-file": "minor" });
    const { problems } = await plan(folder);
    expect(problems).toContainEqual(
      expect.stringContaining(
        `says that it needs @agentfw/core ${raised}, and this release would write ${written} over it`,
      ),
    );
  });

  it.each([
    ["1.4.2", "1.1.0", "^1.5.0", { "history-file": "minor" }],
    ["0.0.0", "0.0.0", "^0.2.0", { "history-file": "minor" }],
    ["0.0.0", "0.0.0", "^1.0.0", { core: "minor", "history-file": "minor" }],
  ])("is not above core %s: a package of %s with %s", async (coreVersion, version, raised, steps) => {
    const folder = repositoryAt({ coreVersion, version, floor: coreVersion === "0.0.0" ? "^0.1.0" : "^1.4.0" });
    edit(folder, "history-file", floor(raised));
    changeset(folder, "one", steps);
    const { problems } = await plan(folder);
    expect(problems).toContainEqual(expect.stringMatching(/^@agentfw\/history-file /));
  });

  it("may be the core that is released with it", async () => {
    const folder = repositoryAt();
    edit(folder, "history-file", floor("^1.5.0"));
    changeset(folder, "one", { core: "minor", "history-file": "minor" });
    const { releases, problems } = await plan(folder);
    expect(problems).toEqual([]);
    expect(find(releases, "history-file")).toMatchObject({ to: "1.2.0", peers: [{ to: "^1.5.0" }] });
  });
});

describe("what is refused", () => {
  const moveFloor = (folder) =>
    edit(folder, "history-redis", (manifest) => {
      manifest.peerDependencies["@agentfw/core"] = "^2.0.0";
    });

  it("a floor that was moved by hand into a patch", async () => {
    const folder = repositoryAt();
    moveFloor(folder);
    changeset(folder, "one", { core: "major", "history-redis": "patch" });
    commit(folder);
    const { problems } = await plan(folder);
    expect(problems).toEqual([
      "@agentfw/history-redis moves its peer @agentfw/core from ^1.4.0 to ^2.0.0, and itself only from 1.1.0 to 1.1.1; " +
        'a changeset must say "@agentfw/history-redis": major',
    ]);
  });

  it("that floor also after the folder was renamed", async () => {
    const folder = repositoryAt();
    git(folder, "mv", "packages/history-redis", "packages/history-of-redis");
    edit(folder, "history-of-redis", (manifest) => (manifest.peerDependencies["@agentfw/core"] = "^2.0.0"));
    changeset(folder, "one", { core: "major", "history-redis": "patch" });
    const expected = [
      expect.stringContaining("@agentfw/history-redis moves its peer @agentfw/core from ^1.4.0 to ^2.0.0"),
    ];
    expect((await plan(folder)).problems).toEqual(expected);
    commit(folder);
    expect((await plan(folder)).problems).toEqual(expected);
  });

  it("a patch that takes core away, or makes it a dependency", async () => {
    const folder = repositoryAt();
    edit(folder, "history-redis", (manifest) => delete manifest.peerDependencies);
    edit(folder, "history-file", (manifest) => {
      manifest.dependencies = { ...manifest.dependencies, ...manifest.peerDependencies };
      delete manifest.peerDependencies;
    });
    changeset(folder, "one", { "history-redis": "patch", "history-file": "patch" });
    commit(folder);
    expect((await plan(folder)).problems).toEqual([
      expect.stringContaining("@agentfw/history-file makes its peer @agentfw/core ^1.4.0 a dependency"),
      expect.stringContaining("@agentfw/history-redis takes away its peer @agentfw/core ^1.4.0"),
    ]);
  });

  it("nothing, when the backend's own major goes with it", async () => {
    const folder = repositoryAt();
    moveFloor(folder);
    changeset(folder, "one", { core: "major", "history-redis": "major" });
    expect((await plan(folder)).problems).toEqual([]);
  });

  it("a release that was written into the checkout already", async () => {
    const folder = repositoryAt();
    moveFloor(folder);
    edit(folder, "history-redis", (manifest) => (manifest.version = "1.1.1"));
    edit(folder, "core", (manifest) => (manifest.version = "2.0.0"));
    for (const { folder: name } of withCorePeer.filter(({ folder: other }) => other !== "history-redis"))
      edit(folder, name, (manifest) => {
        manifest.version = "2.0.0";
        manifest.peerDependencies["@agentfw/core"] = "^2.0.0";
      });
    const expected = [expect.stringContaining("@agentfw/history-redis moves its peer @agentfw/core")];
    expect((await plan(folder)).problems).toEqual(expected);
    commit(folder);
    expect((await plan(folder)).problems).toEqual(expected);
  });

  it("a backend that stays behind the core that is released with it", async () => {
    const folder = repositoryAt();
    edit(folder, "core", (manifest) => (manifest.version = "2.0.0"));
    const { problems } = await plan(folder);
    expect(problems).toHaveLength(withCorePeer.length);
    expect(problems).toContain(
      "@agentfw/history-redis 1.1.0 does not take @agentfw/core 2.0.0, which it is released with: its peer is ^1.4.0",
    );
  });
});

describe("a past that cannot be read is refused, with what mends it", () => {
  const moved = () => {
    const folder = repositoryAt();
    edit(folder, "history-redis", (manifest) => (manifest.peerDependencies["@agentfw/core"] = "^2.0.0"));
    changeset(folder, "one", { core: "major", "history-redis": "patch" });
    commit(folder);
    return folder;
  };
  const clone = (...options) => {
    const folder = join(write({}), "clone");
    git(root, "clone", "--quiet", ...options, folder);
    return folder;
  };

  it("of a shallow clone, and not of a whole one", async () => {
    const origin = `file://${moved()}`;
    expect((await plan(clone("--depth=1", origin))).problems).toContainEqual(
      expect.stringContaining("it is a shallow clone; git fetch --unshallow"),
    );
    expect((await plan(clone(origin))).problems).toEqual([
      expect.stringContaining("@agentfw/history-redis moves its peer @agentfw/core"),
    ]);
    const whole = clone(repositoryAt());
    expect((await plan(whole)).problems).toEqual([]);
  });

  it("of a checkout without git, also inside of another repository", async () => {
    const folder = moved();
    rmSync(join(folder, ".git"), { recursive: true });
    const refused = (why) => [expect.stringMatching(`^the past of this checkout cannot be read.*${why}.*git clone`)];
    expect((await plan(folder)).problems).toEqual(refused("not a git repository"));
    const outer = write({ "README.md": "" });
    git(outer, "init", "--quiet", "--initial-branch=main");
    commit(outer);
    const inner = join(outer, "inner");
    cpSync(folder, inner, { recursive: true });
    expect((await plan(inner)).problems).toEqual(refused("in no commit of this repository"));
  });

  it("but of none before the first release, when there is nobody whom it could break", async () => {
    const folder = repositoryAt({ coreVersion: "0.0.0", version: "0.0.0", floor: "^0.1.0" });
    changeset(folder, "one", { core: "minor", "history-redis": "minor" });
    rmSync(join(folder, ".git"), { recursive: true });
    expect((await plan(folder)).problems).toEqual([]);
  });

  it("of a released package that is in no commit", async () => {
    const folder = repositoryAt();
    const files = join(folder, "packages");
    cpSync(join(files, "history-redis"), join(files, "history-new"), { recursive: true });
    edit(folder, "history-new", (manifest) => (manifest.name = "@agentfw/history-new"));
    expect((await plan(folder)).problems).toEqual([
      "@agentfw/history-new 1.1.0 is in no commit, and what it was before is not known; commit it",
    ]);
  });

  it("by the command itself, with its exit code", async () => {
    // These scripts and their tools in a clone of one commit.
    const folder = clone("--depth=1", `file://${moved()}`);
    cpSync(join(root, "scripts"), join(folder, "scripts"), { recursive: true });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
    const { code, output } = await run(process.execPath, ["scripts/release-guard.mjs"], { cwd: folder });
    expect(output).toContain("git fetch --unshallow");
    expect(code).toBe(1);
  });
});
