import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "../workspace.mjs";

/**
 * Weighs what loading one entry file of an unpacked package loads of this package: the entry and what it imports
 * statically, each file bundled, minified and gzipped. Other packages, drivers and peers, are left out, and so is what
 * is loaded on demand. Resolves to bytes.
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
  const files = outputFiles.filter(({ path }) => loaded.has(basename(path)));
  return files.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);
}
