import { randomUUID } from "node:crypto";
import { mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { OpenedFileStore, OpenOptions, PlantedLink } from "@agentfw/provider-testing";
import { testFileStore } from "@agentfw/provider-testing/vitest";
import { FileSystemFileStore } from "../../src/index.ts";
import { digestOf } from "./store.ts";

/** Runs the kit's clauses on the store. */
export function testFileStoreOnDisk(name: string): void {
  testFileStore({
    name,
    open: openFiles,
    cannot: {
      asOwner: "the store takes the owner with each call",
      sharedClient: "there is no client",
      stallBackend: "a file system cannot be made to hang from within a process",
    },
  });
}

/** Opens a store in a directory of its own. */
export async function openFiles({ timeoutMs }: OpenOptions = {}): Promise<OpenedFileStore> {
  const base = join(tmpdir(), `agentfw-memory-file-${randomUUID()}`);
  const root = join(base, "root");
  await mkdir(root, { recursive: true });
  const stores = [new FileSystemFileStore(root, { fsync: false, timeoutMs })];
  return {
    store: stores[0]!,
    async another() {
      const store = new FileSystemFileStore(root, { fsync: false, timeoutMs });
      stores.push(store);
      return store;
    },
    async close() {
      await Promise.all(stores.map((store) => store.close()));
      await rm(base, { recursive: true, force: true });
    },
    plantLink: (path, kind) => plantLink(base, join(root, path), kind),
    async breakBackend() {
      await rename(root, `${root}.moved`);
      await writeFile(root, "a file where the directory was");
    },
    async healBackend() {
      await rm(root);
      await rename(`${root}.moved`, root);
    },
  };
}

async function plantLink(base: string, at: string, kind: "file" | "directory" | "dangling"): Promise<PlantedLink> {
  const secret = `the secret ${randomUUID()}`;
  const outside = join(base, "outside");
  await mkdir(outside, { recursive: true });
  await mkdir(dirname(at), { recursive: true });
  await writeFile(join(outside, "o.md"), secret);
  const target = { file: join(outside, "o.md"), directory: outside, dangling: join(outside, "nothing") }[kind];
  await symlink(target, at);
  const before = await digestOf(outside);
  return { secret, isOutsideUntouched: async () => (await digestOf(outside)) === before };
}
