import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of this package, from its sources and from the bundle alike. */
export const HOME: string = folderAbove(fileURLToPath(import.meta.url));

/** The folder with the packages that are measured. */
export const PACKAGES: string = join(HOME, "..", "..", "packages");

function folderAbove(path: string): string {
  const folder = dirname(path);
  return existsSync(join(folder, "package.json")) || folder === path ? folder : folderAbove(folder);
}
