import { AgentFrameworkError, type CallOptions, type FileStore, InMemoryFileStore } from "@agentfw/core";
import type { OpenedFileStore } from "../../src/index.ts";
import { closable } from "./closable.ts";
import { copiesArguments } from "./copied.ts";
import { World } from "./world.ts";

/** A backend for files that can do everything the kit asks for. */
export class FileWorld extends World {
  readonly inner: InMemoryFileStore = new InMemoryFileStore();
  isClientOpen = true;
  /** Links by their paths: what they lead to. */
  readonly links: Map<string, "file" | "directory" | "dangling"> = new Map();
  /** The text of the file outside; a defective store may change it. */
  outside = "the secret outside";
}

/** A store over a world, as one process has it. */
export function referenceFileStore(world: FileWorld): FileStore & { close(): Promise<void> } {
  const { inner } = world;
  const at = (path: unknown) => {
    if ([...world.links.keys()].some((link) => `${path}/`.startsWith(`${link}/`))) {
      throw new AgentFrameworkError("configuration", "path: must not lead over a link", { provider: "reference" });
    }
  };
  const on = <T>(kind: "read" | "write", path: unknown, options: CallOptions | undefined, work: () => Promise<T>) =>
    world.call(kind, options, async () => {
      at(path);
      return work();
    });
  return closable(
    copiesArguments({
      contractVersion: 1,
      read: (path, options) => on("read", path, options, () => inner.read(path, scope(options))),
      write: (path, text, options) => on("write", path, options, () => inner.write(path, text, scope(options))),
      delete: (path, options) => on("write", path, options, () => inner.delete(path, scope(options))),
      exists: (path, options) => on("read", path, options, () => inner.exists(path, scope(options))),
      list: (directory, options) => on("read", directory, options, () => inner.list(directory, scope(options))),
      listEntries: (directory, options) =>
        on("read", directory, options, () => inner.listEntries(directory, scope(options))),
      search: (pattern, options) =>
        on("read", options?.directory, options, () => inner.search(pattern, scope(options))),
    }),
  );
}

/** The options without the signal, which the call around them has taken. */
function scope<T extends { readonly signal?: AbortSignal | undefined }>(options: T | undefined): T | undefined {
  return options === undefined ? undefined : { ...options, signal: undefined };
}

/** Opens stores that `make` builds over a world of their own. */
export function openFileWith(
  make: (world: FileWorld) => FileStore,
): (options?: { readonly timeoutMs?: number | undefined }) => Promise<OpenedFileStore> {
  return async ({ timeoutMs = 5_000 } = {}) => {
    const world = new FileWorld();
    world.timeoutMs = timeoutMs;
    return {
      store: make(world),
      another: async () => make(world),
      ...world.hooks,
      sharedClient: async () => ({ store: make(world), isClientOpen: async () => world.isClientOpen }),
      plantLink: async (path, kind) => {
        world.links.set(path, kind);
        return { secret: "the secret outside", isOutsideUntouched: async () => world.outside === "the secret outside" };
      },
    };
  };
}
