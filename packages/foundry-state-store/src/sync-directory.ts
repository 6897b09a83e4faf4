import { type FileHandle, open } from "node:fs/promises";

/** Makes the names in a directory safe from a crash. Windows cannot open one, and keeps names safe by itself. */
export async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") {
    return;
  }
  const directory: FileHandle = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
