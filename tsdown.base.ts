import { defineConfig, type UserConfig } from "tsdown";

/** How every published package is built: ESM, one file per entry, declarations beside it, dependencies left outside. */
export function library(entry: string[], platform: "node" | "neutral" = "node"): UserConfig {
  return defineConfig({
    entry,
    platform,
    format: "esm",
    target: "node20.19",
    fixedExtension: false,
    dts: true,
    sourcemap: true,
    clean: true,
  });
}
