import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Calls `use` with the path of a database in a new folder, and removes the folder afterwards. */
export async function inFolder(use: (path: string) => Promise<void>, name = "history.db"): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "history-sqlite-"));
  try {
    await use(join(folder, name));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
