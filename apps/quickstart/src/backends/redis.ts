import { type AgentSession, HistoryProvider, historyKeyText } from "@agentfw/core";
import { RedisHistoryStore } from "@agentfw/history-redis";
import { type RedisServer, startRedis } from "@agentfw/test-servers";
import { ExplainedError } from "../errors.ts";
import { complain, shellQuoted, withoutPassword } from "../terminal.ts";
import type { Backend } from "./backend.ts";

/** Begins every key, so that what this program stored can be told from everything else on a server. */
const KEY_PREFIX = "agentfw-quickstart";

/** Lists on a Redis server: the one that `--url` names, or one that is started for as long as it is in use. */
export const redisBackend: Backend = {
  summary: "lists on a Redis server",
  isInSession: false,
  open: async ({ url: given, onDiagnostic }) => {
    const server = given === undefined ? await startServer() : undefined;
    const url = given ?? server?.url ?? "";
    const store = new RedisHistoryStore({ url }, { keyPrefix: KEY_PREFIX });
    const shownUrl = withoutPassword(url);
    const provider = new HistoryProvider(store, { onDiagnostic });
    const cli = `redis-cli -u ${shellQuoted(shownUrl)}`;
    const find = (pattern: string) => `${cli} --scan --pattern ${shellQuoted(pattern)}`;
    return {
      url,
      place: `${shownUrl}, in keys that begin with ${KEY_PREFIX}`,
      howToKeep:
        server === undefined ? undefined : "--url redis://127.0.0.1:6379, with a server of yours, would keep it",
      provider: (policy) => new HistoryProvider(store, { ...policy, onDiagnostic }),
      where: async (session) => `${shownUrl}, a list with the key ${listKey("{...}", conversationName(session))}`,
      howToLook: async (session) => [
        find(`${KEY_PREFIX}:*`),
        `${cli} --raw lrange "$(${find(listKey("*", globQuoted(conversationName(session))))})" 0 -1`,
      ],
      howToDelete: () => `${find(`${KEY_PREFIX}:*`)} | tr '\\n' '\\0' | xargs -0 ${cli} unlink`,
      clear: (session) => provider.conversation(session).clear(),
      close: async () => {
        await store.close();
        // Not waited for: it goes by itself, also when this process ends before.
        void server?.stop();
      },
    };
    function conversationName(session: AgentSession): string {
      return historyKeyText({ owner: session.owner, source: provider.sourceId, session: session.sessionId });
    }
  },
};

async function startServer(): Promise<RedisServer> {
  try {
    const server = await startRedis();
    complain(`Started a Redis server on ${server.url}. It is in memory, and ends with this command.`);
    return server;
  } catch (cause) {
    throw new ExplainedError("no Redis server could be started; --url says where there is one", { cause });
  }
}

/** The key of a conversation's list. Its bucket is a number that the store derives from the name. */
function listKey(bucket: string, name: string): string {
  return `${KEY_PREFIX}:1:h:${bucket}:${name}`;
}

/** A text as a pattern that fits it alone. */
function globQuoted(text: string): string {
  return text.replace(/[*?[\]\\]/g, "\\$&");
}
