import {
  AgentFrameworkError,
  type ErrorCode,
  type HistoryPage,
  type HistoryRecord,
  type HistoryStore,
} from "@agentfw/core";
import type { HistoryWorld } from "../../support/reference-history.ts";

type Appended = Awaited<ReturnType<HistoryStore["append"]>>;

/** A store whose appends answer as `change` makes them; it is told what was stored before. */
export function onAppend(
  store: HistoryStore,
  world: HistoryWorld,
  change: (result: Appended, records: readonly HistoryRecord[], before: HistoryPage) => Appended,
): Partial<HistoryStore> {
  return {
    append: async (key, records, options) => {
      const before = await world.inner.read(key).catch(() => ({ records: [], version: "" }));
      return change(await store.append(key, records, options), records, before);
    },
  };
}

/** Does something to what is stored when a call is refused, and refuses it nevertheless. */
export async function afterRefusal<T>(
  call: Promise<T>,
  codes: readonly ErrorCode[],
  work: () => Promise<unknown>,
): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof AgentFrameworkError && codes.includes(error.code)) {
      await work().catch(() => {});
    }
    throw error;
  }
}

/** Rejects with what `change` makes of an error with this code. */
export async function otherwise<T>(
  call: Promise<T>,
  code: ErrorCode,
  change: (error: AgentFrameworkError) => AgentFrameworkError | T,
): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof AgentFrameworkError) || error.code !== code) {
      throw error;
    }
    const changed = change(error);
    if (changed instanceof AgentFrameworkError) {
      throw changed;
    }
    return changed;
  }
}

/** What a server that is busy says. */
export function busy(): AgentFrameworkError {
  return new AgentFrameworkError("unavailable", "the server is busy");
}
