import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "../workspace.mjs";

/** The most that a package's entry may weigh, bundled, minified and gzipped. */
const limits = { "@agentfw/core": 14 * 1024 };

/**
 * Weighs what loading the entry of an unpacked package loads: the entry and what it imports statically, each file
 * minified and gzipped. What it loads on demand is not part of it. `undefined` when nothing was promised.
 */
export async function weigh(name, entry) {
  const limit = limits[name];
  if (limit === undefined) return undefined;
  const { build } = createRequire(join(root, "package.json"))("esbuild");
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "neutral",
    outdir: "out",
    metafile: true,
    write: false,
  });
  const loaded = new Set(
    Object.keys(metafile.outputs).filter((path) =>
      metafile.outputs[path].entryPoint === undefined ? false : isEntry(metafile.outputs[path], entry),
    ),
  );
  for (const path of loaded) {
    for (const { path: imported, kind } of metafile.outputs[path].imports) {
      if (kind === "import-statement") loaded.add(imported);
    }
  }
  const files = outputFiles.filter(({ path }) => [...loaded].some((name) => path.replaceAll("\\", "/").endsWith(name)));
  const bytes = files.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0);
  return { bytes, limit };
}

/** Dynamic imports make entry points of their own; only the package's own entry counts. */
function isEntry(output, entry) {
  return entry.replaceAll("\\", "/").endsWith(output.entryPoint.replace(/^(\.\.\/)+/, ""));
}
