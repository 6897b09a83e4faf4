import { mkdir, readdir, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { findPGlite, loadPGlite, type PGlitePlaces } from "../src/pglite.ts";
import { temporaryFolder } from "./support/app.ts";

const NAME = "@electric-sql/pglite";

/** A folder whose package.json pins PGlite to a package on this disk. */
async function places(version: (folder: string) => string): Promise<PGlitePlaces> {
  const app = await temporaryFolder();
  await writeFile(join(app, "package.json"), JSON.stringify({ devDependencies: { [NAME]: version(app) } }));
  return { app, tools: join(app, "tools") };
}

async function writePackage(folder: string): Promise<void> {
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: NAME, version: "1.0.0", main: "index.cjs" }));
  await writeFile(join(folder, "index.cjs"), "exports.PGlite = 1;");
}

test("what is installed with the app is used, and nothing is fetched", async () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  expect(await findPGlite()).toMatch(/pglite/);
  expect(await loadPGlite()).toHaveProperty("PGlite");
  expect(written).not.toHaveBeenCalled();
});

test("where it is not installed, the pinned version is fetched once, and said to be", async () => {
  const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const there = await places((folder) => `file:${join(folder, "package")}`);
  await writePackage(join(there.app, "package"));
  const path = await findPGlite(there);
  expect(createRequire(path)(path)).toEqual({ PGlite: 1 });
  expect(await readdir(there.tools)).toHaveLength(1);
  expect(await findPGlite(there)).toBe(path);
  expect(written.mock.calls).toEqual([[expect.stringMatching(/^Fetching PGlite, .*pglite-\S+ …\n$/)]]);
});

test("what cannot be fetched is an error that names the way around", async () => {
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const there = await places((folder) => `file:${join(folder, "nowhere.tgz")}`);
  await expect(findPGlite(there)).rejects.toThrow("PGlite could not be fetched; --url names a server");
  expect(await readdir(there.tools)).toEqual([]);
});
