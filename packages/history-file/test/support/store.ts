import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DiagnosticEvent, HistoryKey, HistoryRecord } from "@agentfw/core";
import { onTestFinished } from "vitest";
import { FileHistoryStore, type FileHistoryStoreOptions } from "../../src/index.ts";

/** A directory of its own for the running test, removed afterwards. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "agentfw-history-file-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** A store on a directory of its own unless one is given. Syncing is off, because most tests are not about power. */
export async function openStore(
  options: Partial<FileHistoryStoreOptions> = {},
): Promise<{ store: FileHistoryStore; directory: string; events: DiagnosticEvent[] }> {
  const events: DiagnosticEvent[] = [];
  const directory = options.directory ?? join(await temporaryDirectory(), "store");
  const onDiagnostic = (event: DiagnosticEvent) => events.push(event);
  const store = new FileHistoryStore({ fsync: false, onDiagnostic, ...options, directory });
  onTestFinished(() => store.close());
  return { store, directory, events };
}

export function conversation(session = "session-1", over: Partial<HistoryKey> = {}): HistoryKey {
  return { owner: "owner-1", source: "main", session, ...over };
}

export function record(id: string, data: string = JSON.stringify({ text: `text of ${id}` })): HistoryRecord {
  return { id, data };
}

export function records(prefix: string, count: number): HistoryRecord[] {
  return Array.from({ length: count }, (_, index) => record(`${prefix}-${index}`));
}

export function ids(of: readonly HistoryRecord[]): string[] {
  return of.map(({ id }) => id);
}

/** The file of a conversation whose names are plain. */
export function fileOf(directory: string, key: HistoryKey = conversation()): string {
  return join(directory, key.owner ?? "_unowned", key.source, `${key.session}.jsonl`);
}

/** Every path below a directory, sorted, without the writers' own files. */
export async function tree(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true });
  return entries.filter((path) => !path.startsWith("_writers")).sort();
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
