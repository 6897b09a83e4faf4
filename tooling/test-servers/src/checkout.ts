import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * A folder for what is fetched once and kept: `.tools` in the checkout, which git ignores. Found by walking up, because
 * this file may also run from inside an app's bundle.
 */
export function toolsFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "pnpm-workspace.yaml"))) {
      return join(folder, ".tools");
    }
    if (folder === dirname(folder)) {
      throw new Error("Test servers run from a checkout only: no pnpm-workspace.yaml above this file.");
    }
  }
}
