import { readFile, rm, stat, writeFile } from "node:fs/promises";

const POLL_MS = 100;
const UNCLAIMED_MS = 10_000;

/**
 * Runs `work` while no other process of this machine runs work under the same lock file. A lock whose holder died is
 * taken over. In rare races two processes may work at once, so what they do must bear that; the lock saves the effort.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  while (!(await tryLock(path))) {
    if (await isAbandoned(path)) {
      await rm(path, { force: true });
    } else {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function tryLock(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") {
      return false;
    }
    throw error;
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  try {
    const holder = Number(await readFile(path, "utf8"));
    if (holder > 0) {
      return !isRunning(holder);
    }
    // Made, and its holder not written yet: or never, when it died in between.
    return Date.now() - (await stat(path)).mtimeMs > UNCLAIMED_MS;
  } catch {
    // Gone meanwhile: the next try decides.
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
