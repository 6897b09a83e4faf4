import type { FileStore } from "@agentfw/core";
import type { ContractClause, Trial } from "../clause.ts";
import { present, same, sameList } from "../expect.ts";
import type { OpenedFileStore } from "../opened.ts";

/** A clause of the contract of FileStore. */
export type FileClause = ContractClause<OpenedFileStore>;

/** What a clause on FileStore works with. */
export type FileTrial = Trial<OpenedFileStore>;

/** Fails unless the file is there with this text. Gives its etag. */
export async function expectFile(store: FileStore, path: string, text: string, guarantee: string): Promise<string> {
  const file = present(await store.read(path), guarantee);
  same(file.text, text, `${guarantee} (text)`);
  same(await store.exists(path), true, `${guarantee} (exists)`);
  return file.etag;
}

/** Fails unless there is no such file. */
export async function expectNoFile(store: FileStore, path: string, guarantee: string): Promise<void> {
  const file = await store.read(path);
  same(file?.text, undefined, `${guarantee} (read)`);
  same(await store.exists(path), false, `${guarantee} (exists)`);
}

/** Fails unless exactly these files are below the directory. */
export async function expectListed(
  store: FileStore,
  directory: string,
  expected: readonly string[],
  guarantee: string,
): Promise<void> {
  sameList(await store.list(directory), [...expected].sort(), guarantee);
}
