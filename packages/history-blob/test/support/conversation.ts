import { type AgentFrameworkError, type HistoryKey, type HistoryRecord, isAgentFrameworkError } from "@agentfw/core";

/** A conversation of owner-1. */
export function conversation(session = "session-1", parts: Partial<HistoryKey> = {}): HistoryKey {
  return { owner: "owner-1", source: "main", session, ...parts };
}

/** Records `name-0`, `name-1` and so on. */
export function records(name: string, count: number): HistoryRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `${name}-${index}`,
    data: JSON.stringify({ text: `${name} ${index}` }),
  }));
}

/** The ids, oldest first. */
export function idsOf(some: readonly HistoryRecord[]): string[] {
  return some.map(({ id }) => id);
}

/** The framework's error that a call rejects with. */
export async function rejection(call: Promise<unknown>): Promise<AgentFrameworkError> {
  try {
    await call;
  } catch (error) {
    if (isAgentFrameworkError(error)) {
      return error;
    }
    throw error;
  }
  throw new Error("it resolved");
}

/** Resolves when it holds. Fails after half a minute, which a test never needs unless something is broken. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 25_000;
  while (!(await holds())) {
    if (Date.now() > deadline) {
      throw new Error("not in time");
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
