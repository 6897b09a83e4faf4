import { createStorage } from "unstorage";
import fileDriver from "unstorage/drivers/fs";

/** A conversation is one item, and a file of its own: a turn reads, changes and writes all of it. */
export const unstorage = {
  name: "unstorage",
  kind: "file",
  async open({ directory, sessions, messages }) {
    const storage = createStorage({ driver: fileDriver({ base: directory }) });
    for (const session of sessions) await storage.setItem(session, messages);
    return {
      async append(session, turn) {
        const conversation = await storage.getItem(session);
        conversation.push(...turn);
        await storage.setItem(session, conversation);
      },
      load: async (session, last) => (await storage.getItem(session)).slice(-last).length,
      close: () => storage.dispose(),
    };
  },
};
