import { createRequire } from "node:module";
import { basename, dirname, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "../workspace.mjs";

/**
 * Weighs one entry file of an unpacked package, each file bundled, minified and gzipped; other packages, drivers and
 * peers, are left out. `loadedFiles` are the paths of what Node loads when it imports the entry. Resolves to
 * `{ bytes, allBytes }`: the entry with what that import loads, and with what is loaded on demand too.
 */
export async function weigh(entry, loadedFiles) {
  const { build } = createRequire(join(root, "package.json"))("esbuild");
  const folder = dirname(entry);
  const { outputFiles, metafile } = await build({
    // Named, so that it can be told from the entry points that dynamic imports make.
    entryPoints: [{ in: entry, out: "entry" }],
    absWorkingDir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "neutral",
    packages: "external",
    outdir: "out",
    metafile: true,
    write: false,
  });
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const loaded = new Set(["entry.js", ...outputsOf(outputs, folder, new Set(loadedFiles))]);
  for (const name of loaded) {
    for (const { path, kind, external } of outputs.get(name).imports)
      if (kind === "import-statement" && !external) loaded.add(basename(path));
  }
  const sum = (files) => files.reduce((total, { contents }) => total + gzipSync(contents, { level: 9 }).length, 0);
  return { bytes: sum(outputFiles.filter(({ path }) => loaded.has(basename(path)))), allBytes: sum(outputFiles) };
}

/** What a dynamic import loads is loaded on demand only if Node did not load it already, as it does for one that is awaited. */
function outputsOf(outputs, folder, loadedFiles) {
  const isLoaded = ({ inputs }) => Object.keys(inputs).some((path) => loadedFiles.has(resolve(folder, path)));
  return [...outputs].filter(([, output]) => isLoaded(output)).map(([name]) => name);
}
