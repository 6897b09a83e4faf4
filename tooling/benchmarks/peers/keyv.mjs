import { Keyv } from "keyv";

/** A conversation is one value: a turn reads, changes and writes all of it. */
export const keyv = {
  name: "keyv",
  kind: "memory",
  async open({ sessions, messages }) {
    const store = new Keyv();
    for (const session of sessions) await store.set(session, messages);
    return {
      async append(session, turn) {
        const conversation = await store.get(session);
        conversation.push(...turn);
        await store.set(session, conversation);
      },
      load: async (session, last) => (await store.get(session)).slice(-last).length,
      close: () => store.disconnect(),
    };
  },
};
