import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { proveInstalls, withReadmes } from "../lib/install-proof/prove.mjs";
import { startRegistry } from "../lib/registry/server.mjs";
import { withReleaseCopy } from "../lib/release/copy.mjs";
import { packCopy } from "../lib/release/packed.mjs";
import { builtCheckout, readmeWith } from "./install-fixture.mjs";

// Fetching the registry, the first time on a machine, is a part of what these tests wait for.
const patient = { timeout: 300_000 };
const oldCore = "export const old = 1;\n";
const newCore = "export const old = 1;\nexport const recent = 2;\n";
const useOld = 'import { old } from "@agentfw/core";\nexport const value = old;\n';
const sayValue = (name) =>
  readmeWith(`import { value } from "@agentfw/${name}";\nif (value !== 1) throw new Error("wrong");`);

function temporaryFolder() {
  return realpathSync(mkdtempSync(join(tmpdir(), "agentfw-proof-test-")));
}

/** A backend whose entry loads its engine when it is called. */
function withEngine(text) {
  return {
    code: `${useOld}export const open = () => import("./engine.js");\n`,
    types: "export declare const value: number;\nexport declare const open: () => unknown;\n",
    more: { "dist/engine.js": text },
  };
}

/** Proves a checkout on a registry of its own, and resolves to the problems and what was reported. */
async function prove(checkout, others = "none", cached = undefined) {
  const folder = temporaryFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const registry = await startRegistry(join(folder, "registry"));
  onTestFinished(() => registry.stop());
  const lines = [];
  const report = (line) => lines.push(line.replace(/ \([\d.]+ s\)$/, ""));
  const caches = cached ?? join(folder, "caches");
  const problems = await withReleaseCopy(async (copy) => {
    const packed = withReadmes(await packCopy(copy), copy);
    return proveInstalls({ packed, registry, folder, caches, report, others });
  }, checkout);
  return { problems, lines };
}

describe("a release whose core is newer than the oldest that its backends take", patient, () => {
  /** The registry that npm is set to use, where the release before this one was published. */
  async function releaseBefore() {
    const folder = temporaryFolder();
    const world = await startRegistry(join(folder, "registry"));
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await world.stop();
      rmSync(folder, { recursive: true, force: true });
    });
    await withReleaseCopy(
      async (copy) => {
        for (const { tarball } of await packCopy(copy)) await world.publish(tarball);
      },
      builtCheckout({ core: oldCore, coreVersion: "1.4.0" }),
    );
    vi.stubEnv("npm_config_registry", world.url);
  }

  it("is proven with the new core, with the old one, and with every package manager", async () => {
    await releaseBefore();
    const backends = { "history-file": { code: useOld, readme: sayValue("history-file") } };
    const { problems, lines } = await prove(builtCheckout({ core: newCore, coreVersion: "1.5.0", backends }), "some");
    expect(problems).toEqual([]);
    expect(lines.sort()).toEqual([
      "2 packages published on this machine",
      "@agentfw/core alone, with npm: ok",
      "@agentfw/history-file alone, with npm: ok",
      "@agentfw/history-file with @agentfw/core 1.4.0: ok",
      "@agentfw/history-file with pnpm: ok",
      "@agentfw/history-file with yarn: ok",
    ]);
  });

  it("fails at the floor for a backend that needs the new core and does not say so", async () => {
    await releaseBefore();
    const code = 'import { recent } from "@agentfw/core";\nexport const value = recent - 1;\n';
    const backends = {
      "history-file": { code, readme: sayValue("history-file") },
      "history-late": withEngine('import { recent } from "@agentfw/core";\nexport const value = recent;\n'),
    };
    const { problems } = await prove(builtCheckout({ core: newCore, coreVersion: "1.5.0", backends }));
    expect(problems.sort()).toEqual(
      [
        "file .*history-file cannot be imported",
        "file .*ended with code 1",
        "late .*/engine\\.js cannot be imported",
      ].map((text) =>
        expect.stringMatching(
          new RegExp(`^@agentfw/history-${text.replace(" ", " with @agentfw/core 1.4.0: ")}.*recent`, "s"),
        ),
      ),
    );
  });

  it("says which floor nobody can install", async () => {
    await releaseBefore();
    const backends = { "history-file": { code: useOld, floor: "^1.3.0" } };
    await expect(prove(builtCheckout({ core: newCore, coreVersion: "1.5.0", backends }))).rejects.toThrow(
      /@agentfw\/core@1\.3\.0 is the oldest that some package claims to work with, and npm cannot fetch it/,
    );
  });
});

describe("a release of one core", patient, () => {
  it("is loaded whole with every package manager, also what nothing but a call loads, without an example", async () => {
    const caches = temporaryFolder();
    onTestFinished(() => rmSync(caches, { recursive: true, force: true }));
    const proven = async (engine) => {
      const backends = { "history-file": withEngine(engine) };
      return prove(builtCheckout({ core: oldCore, coreVersion: "1.4.0", backends }), "some", caches);
    };
    expect((await proven("export const works = 1;\n")).problems).toEqual([]);
    // The same version, so that a package manager could take what it kept.
    const { problems } = await proven('throw new Error("the engine does not load");\n');
    expect(problems.sort()).toEqual(
      ["alone, with npm", "with pnpm", "with yarn"].map((title) =>
        expect.stringMatching(
          new RegExp(`^@agentfw/history-file ${title}: .*/engine\\.js cannot be imported: the engine does not load`),
        ),
      ),
    );
  });

  it("says that the drivers could not be reached", async () => {
    // A port on which nothing listens.
    vi.stubEnv("npm_config_registry", "http://127.0.0.1:1/");
    onTestFinished(() => vi.unstubAllEnvs());
    const backends = { "history-file": { code: useOld, manifest: { dependencies: { ioredis: "^6.0.0" } } } };
    await expect(prove(builtCheckout({ core: oldCore, coreVersion: "1.4.0", backends }))).rejects.toThrow(
      /npm could not add .*The registry that npm is set to use could not be reached/s,
    );
  });

  it("names strangers, wrong examples, wrong declarations and entries that do not load", async () => {
    const backends = {
      "history-a": {
        code: useOld,
        types: 'import { gone } from "@agentfw/core";\nexport declare const value: typeof gone;\n',
      },
      "history-b": { code: "throw new Error('it does not load');" },
      "history-c": {
        code: useOld,
        readme: readmeWith('import { value } from "@agentfw/history-c";\nconst a: string = value;'),
      },
      "history-d": { code: useOld, readme: readmeWith("process.exit(3);") },
      "history-e": {
        code: useOld,
        readme: readmeWith('import "unheard-of";'),
        more: { "dist/.env": "TOKEN=1", "dist/old.js": "export {};" },
      },
    };
    const coreManifest = { dependencies: { "@agentfw/history-d": "1.0.0" } };
    const { problems } = await prove(builtCheckout({ core: oldCore, coreVersion: "1.4.0", coreManifest, backends }));
    expect(problems).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/history-a .*: under nodenext: .*history-a\/dist\/index\.d\.ts\(1\): .*'gone'/),
        expect.stringMatching(/history-a .*: under bundler: /),
        expect.stringMatching(/history-b .*: @agentfw\/history-b cannot be imported: it does not load/),
        expect.stringMatching(/history-c .*: under nodenext: readme-4\.ts\(5\): Type 'number' is not assignable/),
        expect.stringMatching(/history-d .*: readme-4 ended with code 3/),
        "@agentfw/history-a alone, with npm: @agentfw/history-d@1.0.0 is a stranger in its tree",
        "@agentfw/history-e alone, with npm: dist/.env should not be in the tarball",
        "@agentfw/history-e alone, with npm: dist/old.js is in the tarball, and nothing of the build leads to it",
        "@agentfw/history-e alone, with npm: an example imports unheard-of, which no field of package.json names",
      ]),
    );
  });
});
