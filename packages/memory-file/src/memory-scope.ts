import { configurationError, type RunContext } from "@agentfw/core";
import { assertFilePath, foldFileName } from "@agentfw/core/backend";
import { scopeSegment } from "./names.ts";

/** The directory of memories that belong to a session. No scope may begin with it. */
const SESSIONS = "_sessions";

/** Whose memories: a path such as `users/42`, or a function that makes one from what the run is trusted to know. */
export type MemoryScope = string | ((context: RunContext) => string | Promise<string>);

/** Where the memories of a run are. */
export interface MemoryPlace {
  readonly owner: string | null;
  readonly directory: string;
}

/** @throws `configuration` for a scope that is neither a path nor a function. */
export function assertScope(scope: unknown): void {
  if (typeof scope !== "function") {
    assertScopePath(scope);
  }
}

/**
 * The place of a run's memories. Without a scope they are its session's, among the files of the session's owner. With
 * one, whoever has the same scope shares them.
 *
 * @throws `configuration` for a run without a session where memories belong to sessions, and for a scope that is no
 * path; what the function throws.
 */
export async function placeOfRun(scope: MemoryScope | undefined, context: RunContext): Promise<MemoryPlace> {
  if (scope === undefined) {
    if (context.ephemeral) {
      throw configurationError("session", "must be given, because the memories belong to it; or give a scope");
    }
    return { owner: context.owner, directory: `${SESSIONS}/${scopeSegment(context.session.sessionId)}` };
  }
  const directory: unknown = typeof scope === "function" ? await scope(context) : scope;
  assertScopePath(directory);
  return { owner: null, directory };
}

function assertScopePath(scope: unknown): asserts scope is string {
  if (typeof scope !== "string") {
    throw configurationError("scope", "must be a path such as users/42, or a function that gives one");
  }
  assertFilePath(scope, "scope");
  if (foldFileName(scope.split("/")[0] ?? "") === SESSIONS) {
    throw configurationError("scope", `must not begin with ${SESSIONS}`);
  }
}
