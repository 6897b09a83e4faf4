import { InMemoryHistoryProvider } from "@agentfw/core";
import type { Backend } from "./backend.ts";

/** Messages in the session object: gone with the process, unless the session's JSON is kept. */
export const memoryBackend: Backend = {
  summary: "the session object, in memory; forgotten when the process ends, unless the session's JSON is kept",
  isInSession: true,
  open: async () => ({
    url: undefined,
    howToKeep: "--session-file FILE or --backend file would keep it",
    place: "the session objects, in memory",
    provider: (policy) => new InMemoryHistoryProvider(policy),
    where: async () => "in the session object, in the memory of this process",
    howToLook: async () => [],
    howToDelete: () => "nothing to delete: it is gone when the process ends",
    clear: async (session) => new InMemoryHistoryProvider().setMessages(session, []),
    close: async () => {},
  }),
};
