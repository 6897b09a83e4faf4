import { join } from "node:path";
import { FileSystemChatMessageHistory } from "@langchain/community/stores/message/file_system";
import { InMemoryChatMessageHistory } from "@langchain/core/chat_history";
import { toLangchain } from "./langchain-messages.mjs";

export const langchainMemory = {
  name: "langchain",
  kind: "memory",
  async open({ sessions, messages }) {
    const histories = new Map();
    for (const session of sessions) histories.set(session, new InMemoryChatMessageHistory(messages.map(toLangchain)));
    return {
      append: (session, turn) => histories.get(session).addMessages(turn.map(toLangchain)),
      load: async (session, last) => (await histories.get(session).getMessages()).slice(-last).length,
    };
  },
};

/** Fills a session in one step; one message at a time, each with the whole file rewritten, would take minutes. */
class SeedingHistory extends FileSystemChatMessageHistory {
  seed = [];

  async getMessages() {
    await this.init();
    return this.seed;
  }

  async saveStore() {}
}

let opened = 0;

/** All sessions of a process are in one object and in one file, so each opening has a user of its own. */
export const langchainFile = {
  name: "langchain",
  kind: "file",
  async open({ directory, sessions, messages }) {
    opened += 1;
    const userId = `user-${opened}`;
    const filePath = join(directory, "history.json");
    const histories = new Map();
    for (const sessionId of sessions) {
      const options = { sessionId, userId, filePath };
      histories.set(sessionId, new FileSystemChatMessageHistory(options));
      const seed = messages.map(toLangchain);
      const last = seed.pop();
      if (last !== undefined) await Object.assign(new SeedingHistory(options), { seed }).addMessage(last);
    }
    return {
      append: (session, turn) => histories.get(session).addMessages(turn.map(toLangchain)),
      load: async (session, last) => (await histories.get(session).getMessages()).slice(-last).length,
      close: () => histories.get(sessions[0]).clearAllSessions(),
    };
  },
};
