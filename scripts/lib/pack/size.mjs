import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "../workspace.mjs";

/**
 * Weighs one entry file of an unpacked package, each file bundled, minified and gzipped; other packages, drivers and
 * peers, are left out. Resolves to `{ bytes, allBytes }`: the entry with what it imports statically, and with what is
 * loaded on demand too.
 */
export async function weigh(entry) {
  const { build } = createRequire(join(root, "package.json"))("esbuild");
  const { outputFiles, metafile } = await build({
    // Named, so that it can be told from the entry points that dynamic imports make.
    entryPoints: [{ in: entry, out: "entry" }],
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
  const loaded = new Set(["entry.js"]);
  for (const name of loaded) {
    for (const { path, kind, external } of outputs.get(name).imports)
      if (kind === "import-statement" && !external) loaded.add(basename(path));
  }
  const sum = (files) => files.reduce((total, { contents }) => total + gzipSync(contents, { level: 9 }).length, 0);
  return { bytes: sum(outputFiles.filter(({ path }) => loaded.has(basename(path)))), allBytes: sum(outputFiles) };
}
