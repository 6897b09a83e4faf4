import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, readlink, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DiagnosticEvent } from "@agentfw/core";
import { onTestFinished } from "vitest";
import { FileSystemFileStore, type FileSystemFileStoreOptions } from "../../src/index.ts";

/** A directory of its own for the running test, removed afterwards. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "agentfw-memory-file-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A store on a directory of its own unless one is given. Syncing is off, because most tests are not about power. */
export async function openStore(
  options: FileSystemFileStoreOptions & { readonly root?: string } = {},
): Promise<{ store: FileSystemFileStore; root: string; events: DiagnosticEvent[] }> {
  const { root = join(await temporaryDirectory(), "root"), ...given } = options;
  const events: DiagnosticEvent[] = [];
  const onDiagnostic = (event: DiagnosticEvent) => events.push(event);
  const store = new FileSystemFileStore(root, { fsync: false, onDiagnostic, ...given });
  onTestFinished(() => store.close());
  return { store, root, events };
}

/** One text that changes with every name, link and byte below a directory. */
export async function digestOf(directory: string): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }));
  for (const { entry, path } of paths.sort((one, other) => (one.path < other.path ? -1 : 1))) {
    hash.update(`${path}\0`);
    if (entry.isFile()) {
      hash.update(await readFile(path));
    } else if (entry.isSymbolicLink()) {
      hash.update(await readlink(path));
    }
  }
  return hash.digest("hex");
}

/** Every path below a directory, sorted, without the store's own. */
export async function tree(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true });
  return entries.filter((path) => !path.startsWith("_store")).sort();
}

/** The code of what a call rejects with; fails when it resolves. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in outcome)) {
    throw new Error(`resolved with ${JSON.stringify(outcome.value)}`);
  }
  const { error } = outcome;
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
