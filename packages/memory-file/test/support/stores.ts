import { type FileStore, InMemoryFileStore } from "@agentfw/core";
import { minimalStore } from "./memory.ts";
import { openStore } from "./store.ts";

/** Stores that the provider must work on: ours, core's, and one that has only what every store must have. */
export const STORES: readonly (readonly [name: string, open: () => Promise<FileStore>])[] = [
  ["on disk", async () => (await openStore()).store],
  ["in memory", async () => new InMemoryFileStore()],
  ["of a third party", async () => minimalStore(new InMemoryFileStore())],
];
