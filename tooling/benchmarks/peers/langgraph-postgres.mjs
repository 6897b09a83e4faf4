import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { toLangchain } from "./langchain-messages.mjs";

const METADATA = { source: "loop", step: 1, parents: {} };

/** A conversation of a graph: its messages are one value, of which each checkpoint stores a new version. */
class Thread {
  constructor(saver, session) {
    this.saver = saver;
    this.config = { configurable: { thread_id: session, checkpoint_ns: "" } };
    this.messages = [];
    this.version = 0;
  }

  /** A graph has loaded its messages before it adds some; that is not counted here. */
  async add(added) {
    this.messages = [...this.messages, ...added.map(toLangchain)];
    this.version += 1;
    const versions = { messages: this.version };
    const checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(this.version),
      ts: new Date().toISOString(),
      channel_values: { messages: this.messages },
      channel_versions: versions,
    };
    this.config = await this.saver.put(this.config, checkpoint, METADATA, versions);
  }

  async load() {
    const { thread_id, checkpoint_ns } = this.config.configurable;
    const tuple = await this.saver.getTuple({ configurable: { thread_id, checkpoint_ns } });
    return tuple.checkpoint.channel_values.messages;
  }
}

/** The checkpointer alone. A graph writes some more checkpoints for a turn, and what its nodes wrote in between. */
export const langgraphPostgres = {
  name: "langgraph",
  kind: "postgres",
  mostMessages: 10_000,
  async open({ url, prefix, sessions, messages }) {
    const saver = PostgresSaver.fromConnString(url, { schema: prefix });
    await saver.setup();
    const threads = new Map(sessions.map((session) => [session, new Thread(saver, session)]));
    if (messages.length > 0) for (const thread of threads.values()) await thread.add(messages);
    return {
      append: (session, turn) => threads.get(session).add(turn),
      load: async (session, last) => (await threads.get(session).load()).slice(-last).length,
      async close() {
        for (const session of sessions) await saver.deleteThread(session);
        await saver.end();
      },
    };
  },
};
