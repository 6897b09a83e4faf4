import { resolve } from "node:path";
import { FileMemoryProvider, FileSystemFileStore, scopeSegment } from "@agentfw/memory-file";
import type { Options } from "./options.ts";

/** The agent's own files: where they are, and how it gets at them. */
export interface Memory {
  readonly provider: FileMemoryProvider;
  readonly store: FileSystemFileStore;
  /** The path of this owner's files in the store. */
  readonly scope: string;
  readonly directory: string;
}

/** File memory below the data folder. Its scope is the owner, so every session of the owner shares it. */
export function openMemory({ data, owner }: Options): Memory {
  const root = resolve(data, "memory");
  const store = new FileSystemFileStore(root);
  const scope = `users/${scopeSegment(owner)}`;
  return { provider: new FileMemoryProvider(store, { scope }), store, scope, directory: resolve(root, scope) };
}
