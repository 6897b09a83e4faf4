import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { root } from "./workspace.mjs";

/**
 * The compiler's program. It is the native one, which checks the whole checkout several times sooner; the other, which
 * can be called from a program, is there for what asks about types file by file.
 */
export function compilerPath() {
  const manifest = createRequire(join(root, "package.json")).resolve("typescript-native/package.json");
  return join(dirname(manifest), "bin", "tsc");
}
