import { randomUUID } from "node:crypto";
import { link, readFile, rename, rm, writeFile } from "node:fs/promises";
import { ExplainedError } from "./errors.ts";

/** Locks of this process. One that is not among them may still name its number: numbers are given again. */
const held = new Set<string>();

/**
 * Takes a folder for this process, by a file that names it, and gives what lets go of it. A lock whose process is gone,
 * killed perhaps, is taken over.
 *
 * @throws ExplainedError when another process has it.
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const file = `${folder}.lock`;
  while (!(await isCreated(file))) {
    const holder = await holderOf(file);
    if (holder !== undefined && (holder === process.pid ? held.has(file) : isRunning(holder))) {
      throw new ExplainedError(
        `process ${holder} is using ${folder}, which is for one process at a time; if that is another program, delete ${file}`,
      );
    }
    await removeAbandoned(file, holder);
  }
  return async () => {
    held.delete(file);
    await rm(file, { force: true });
  };
}

/** In one step with what is in it: a lock that names nobody was never finished, and is nobody's. */
async function isCreated(file: string): Promise<boolean> {
  const unfinished = `${file}.${randomUUID()}`;
  try {
    await writeFile(unfinished, String(process.pid), { mode: 0o600 });
    await link(unfinished, file);
    held.add(file);
    return true;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") {
      return false;
    }
    throw new ExplainedError(`${file} cannot be written`, { cause });
  } finally {
    await rm(unfinished, { force: true });
  }
}

/** Moved away first: two that find the same lock abandoned must not remove the one that the quicker of them made. */
async function removeAbandoned(file: string, holder: number | undefined): Promise<void> {
  const moved = `${file}.${randomUUID()}`;
  await rename(file, moved).catch(() => {});
  const isSame = (await holderOf(moved)) === holder;
  await (isSame ? rm(moved, { force: true }) : rename(moved, file).catch(() => {}));
}

async function holderOf(file: string): Promise<number | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  const pid = Number(text);
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
