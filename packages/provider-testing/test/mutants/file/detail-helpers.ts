import { AgentFrameworkError, type FileStore, type FileWriteOptions, type Scope } from "@agentfw/core";
import { isCode } from "./helpers.ts";

type ReadFile = NonNullable<Awaited<ReturnType<FileStore["read"]>>>;

/** A store whose reads answer as `change` makes them; it is told what is stored, if anything is. */
export function onRead(
  store: FileStore,
  change: (
    file: ReadFile | undefined,
    path: string,
    options: Scope | undefined,
  ) => ReadFile | undefined | Promise<ReadFile | undefined>,
): Pick<FileStore, "read"> {
  return { read: async (path, options) => change(await store.read(path, options), path, options) };
}

/** A store that says of each name what `change` makes of the truth. */
export function onExists(
  store: FileStore,
  change: (isThere: boolean, path: string, options: Scope | undefined) => boolean | Promise<boolean>,
): Pick<FileStore, "exists"> {
  return { exists: async (path, options) => change(await store.exists(path, options), path, options) };
}

/** A store whose lists hold the paths that `change` makes of them, sorted. */
export function onList(
  store: FileStore,
  change: (
    paths: string[],
    directory: string,
    options: Scope | undefined,
  ) => readonly string[] | Promise<readonly string[]>,
): Pick<FileStore, "list"> {
  return {
    list: async (directory, options) => {
      const paths = await change(await store.list(directory, options), directory, options);
      return [...new Set(paths)].sort();
    },
  };
}

/** A store whose deletes answer as `change` makes them; the delete itself is done. */
export function onDelete(
  store: FileStore,
  change: (isDone: boolean, path: string, options: Scope | undefined) => boolean | Promise<boolean>,
): Pick<FileStore, "delete"> {
  return { delete: async (path, options) => change(await store.delete(path, options), path, options) };
}

/** A store that tells `note` what it has written, and whether under a condition. */
export function onWritten(
  store: FileStore,
  note: (path: string, text: string, etag: string, options: FileWriteOptions | undefined) => unknown,
): Pick<FileStore, "write"> {
  return {
    write: async (path, text, options) => {
      const { etag } = await store.write(path, text, options);
      await note(path, text, etag, options);
      return { etag };
    },
  };
}

/** A store that does something more when it refuses a write with one of these codes, and refuses it nevertheless. */
export function onRefusedWrite(
  store: FileStore,
  codes: readonly string[],
  work: (path: string, text: string, options: FileWriteOptions | undefined) => unknown,
): Pick<FileStore, "write"> {
  return {
    write: async (path, text, options) => {
      try {
        return await store.write(path, text, options);
      } catch (error) {
        if (isCode(error, ...codes)) {
          await Promise.resolve(work(path, text, options)).catch(() => {});
        }
        throw error;
      }
    },
  };
}

/** A store that ends a write which it refuses with this code as `instead` says; without an answer it refuses. */
export function insteadOfRefusal(
  store: FileStore,
  code: string,
  instead: (
    error: AgentFrameworkError,
    path: string,
    options: FileWriteOptions | undefined,
  ) => { readonly etag: string } | undefined | Promise<{ readonly etag: string } | undefined>,
): Pick<FileStore, "write"> {
  return {
    write: async (path, text, options) => {
      try {
        return await store.write(path, text, options);
      } catch (error) {
        const answer =
          error instanceof AgentFrameworkError && error.code === code ? await instead(error, path, options) : undefined;
        if (answer === undefined) {
          throw error;
        }
        return answer;
      }
    },
  };
}

/** The answer of a call, or `instead` when it is refused with this code. */
export async function unlessCode<T>(call: Promise<T>, code: string, instead: () => T | Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (isCode(error, code)) {
      return instead();
    }
    throw error;
  }
}

/** Says what a server says that is busy, about what is stored. */
export function busy(currentVersion?: string): never {
  throw new AgentFrameworkError("unavailable", "the server is busy", { currentVersion });
}

/** The names of the folders around a path, the innermost first. */
export function foldersOf(path: string): string[] {
  const names = path.split("/");
  return names.slice(1).map((_, index) => names.slice(0, names.length - 1 - index).join("/"));
}

/** Without the signal, for what a store does beside the call that was made. */
export function scopeOf(options: Scope | undefined): Scope {
  return { owner: options?.owner };
}
