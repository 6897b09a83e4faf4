import { mapChatMessagesToStoredMessages } from "@langchain/core/messages";
import { RedisChatMessageHistory } from "@langchain/redis";
import { createClient } from "redis";
import { toLangchain } from "./langchain-messages.mjs";

/** On node-redis, without an expiry: with one, each message takes a round trip more. */
export const langchainRedis = {
  name: "langchain",
  kind: "redis",
  async open({ url, prefix, sessions, messages }) {
    const client = createClient({ url });
    await client.connect();
    const keyOf = (session) => `${prefix}:${session}`;
    const histories = new Map();
    for (const session of sessions) {
      histories.set(session, new RedisChatMessageHistory({ sessionId: keyOf(session), client }));
      // As it stores them, but in one step: each by itself would take seconds.
      const stored = mapChatMessagesToStoredMessages(messages.map(toLangchain)).map((one) => JSON.stringify(one));
      for (let start = 0; start < stored.length; start += 1000) {
        await client.lPush(keyOf(session), stored.slice(start, start + 1000));
      }
    }
    return {
      append: (session, turn) => histories.get(session).addMessages(turn.map(toLangchain)),
      load: async (session, last) => (await histories.get(session).getMessages()).slice(-last).length,
      async close() {
        await client.del(sessions.map(keyOf));
        await client.disconnect();
      },
    };
  },
};
