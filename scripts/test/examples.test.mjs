import { expect, it } from "vitest";
import { isSourceOf, listExamples } from "../lib/examples/list.mjs";
import { withVersions } from "../lib/examples/lock.mjs";
import { neededNames, servedVersion } from "../lib/examples/packed.mjs";
import { answers, serve } from "../lib/examples/registry.mjs";
import { write } from "./workspace-fixture.mjs";

const kit = {
  manifest: { name: "@agentfw/kit", version: "0.1.0", dependencies: { citty: "^0.2.2" } },
  tarball: Buffer.from("packed"),
};

it("lists what has a manifest, and copies only what somebody wrote", () => {
  const folder = write({ "examples/a/package.json": { name: "a" }, "examples/notes/README.md": "text" });
  expect(listExamples(folder)).toMatchObject([{ folder: "a", directory: "examples/a", manifest: { name: "a" } }]);
  expect(listExamples(write({}))).toEqual([]);
  expect(isSourceOf("/x/a", "/x/a/src/index.ts")).toBe(true);
  for (const made of ["node_modules", "dist/index.js", ".reports/tests.json"])
    expect(isSourceOf("/x/a", `/x/a/${made}`)).toBe(false);
});

it("takes from a lockfile what is only true of one registry or of one build", () => {
  const lock = {
    lockfileVersion: 3,
    packages: {
      "": { name: "a", version: "1.0.0" },
      "node_modules/@agentfw/kit": { version: "0.1.0", resolved: "http://x/kit.tgz", integrity: "sha512-a" },
      "node_modules/b/node_modules/@agentfw/kit": { version: "0.1.0", integrity: "sha512-a" },
      "node_modules/citty": { version: "0.2.2", resolved: "http://x/citty.tgz", integrity: "sha512-b" },
    },
  };
  expect(withVersions(lock, new Map([["@agentfw/kit", "0.1.7"]])).packages).toEqual({
    "": { name: "a", version: "1.0.0" },
    "node_modules/@agentfw/kit": { version: "0.1.7" },
    "node_modules/b/node_modules/@agentfw/kit": { version: "0.1.7" },
    "node_modules/citty": { version: "0.2.2", integrity: "sha512-b" },
  });
});

it("packs what examples name of ours and what that needs, and refuses what is not published", () => {
  const published = new Map([
    ["@agentfw/kit", { peerDependencies: { "@agentfw/core": "^0.1.0" }, devDependencies: { "@agentfw/agent": "*" } }],
    ["@agentfw/core", {}],
    ["@agentfw/agent", {}],
  ]);
  expect(neededNames([{ devDependencies: { "@agentfw/kit": "^0.1.0", vitest: "*" } }], published)).toEqual([
    "@agentfw/core",
    "@agentfw/kit",
  ]);
  expect(() => neededNames([{ dependencies: { "@agentfw/no": "*" } }], published)).toThrow("@agentfw/no");
});

it("serves what was never released as its first version, and everything else as it is", () => {
  expect([servedVersion("0.0.0"), servedVersion("0.1.0"), servedVersion("1.2.3")]).toEqual(["0.1.0", "0.1.0", "1.2.3"]);
});

it("gives a tarball with other contents another address", () => {
  const [path] = [...answers([kit], "").keys()];
  const [other] = [...answers([{ ...kit, tarball: Buffer.from("other") }], "").keys()];
  expect(path).toMatch(/^\/@agentfw\/kit\/-\/[0-9a-f]{64}\.tgz$/);
  expect(other).not.toBe(path);
});

it("answers as a registry does, and not after it was stopped", async () => {
  const { url, stop } = await serve([kit]);
  const about = await (await fetch(`${url}@agentfw%2fkit`)).json();
  expect(about["dist-tags"]).toEqual({ latest: "0.1.0" });
  const version = about.versions["0.1.0"];
  expect(version.dependencies).toEqual({ citty: "^0.2.2" });
  expect(await (await fetch(version.dist.tarball)).text()).toBe("packed");
  expect((await fetch(`${url}@agentfw%2fno`)).status).toBe(404);
  await stop();
  await expect(fetch(url)).rejects.toThrow();
});
