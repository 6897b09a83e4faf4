import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "../workspace.mjs";

/** The most that a package's entry may weigh, bundled, minified and gzipped. */
const limits = { "@agentfw/core": 14 * 1024 };

/** Weighs the entry of an unpacked package: `{ bytes, limit }`, or undefined when nothing was promised. */
export async function weigh(name, entry) {
  const limit = limits[name];
  if (limit === undefined) return undefined;
  const { build } = createRequire(join(root, "package.json"))("esbuild");
  const bundled = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "neutral",
    write: false,
  });
  return { bytes: gzipSync(bundled.outputFiles[0].contents, { level: 9 }).length, limit };
}
