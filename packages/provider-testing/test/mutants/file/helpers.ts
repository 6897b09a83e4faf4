import { AgentFrameworkError, type FileStore } from "@agentfw/core";
import { turn } from "../../support/world.ts";

/** A store over paths that `change` has spoiled on their way in, and `back` mends on their way out. */
export function withPaths(
  store: FileStore,
  change: (path: string) => string,
  back: (path: string) => string = (path) => path,
): Partial<FileStore> {
  const spoiled = (path: unknown) => (typeof path === "string" ? change(path) : String(path));
  return {
    read: (path, options) => store.read(spoiled(path), options),
    write: (path, text, options) => store.write(spoiled(path), text, options),
    delete: (path, options) => store.delete(spoiled(path), options),
    exists: (path, options) => store.exists(spoiled(path), options),
    list: async (directory, options) => (await store.list(directory, options)).map(back).sort(),
  };
}

/** A write that looks at what is there first, and then writes without a condition. */
export function lookThenWrite(store: FileStore): FileStore["write"] {
  return async (path, text, options) => {
    const { ifMatch, ifNoneMatch, ...rest } = options ?? {};
    const existing = await store.read(path, rest);
    await turn();
    const fits =
      (ifMatch === undefined || ifMatch === existing?.etag) && (ifNoneMatch === undefined || existing === undefined);
    return store.write(path, text, fits ? rest : options);
  };
}

/** Keeps everything else from running for this long, as a backtracking engine does. */
export function block(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end) {
    // Nothing else runs meanwhile.
  }
}

/** True for an error of the framework with one of these codes. */
export function isCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof AgentFrameworkError && codes.includes(error.code);
}
