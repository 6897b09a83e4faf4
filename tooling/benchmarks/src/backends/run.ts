import { Agent, type AgentOptions } from "@agentfw/agent";
import {
  AgentSession,
  type ChatClient,
  type ContextProvider,
  HistoryProvider,
  type HistoryStore,
  InMemoryHistoryProvider,
  InMemoryHistoryStore,
} from "@agentfw/core";
import { assistantText, LOADED_MESSAGES, messages, turn, userText } from "../conversation.ts";
import { BenchmarkError } from "../errors.ts";
import { importJob } from "../import-time.ts";
import type { Backend, JobContext, OpenJob, Operation } from "../measurement.ts";
import { seedStore } from "../provider-turns.ts";

/** Each adds a turn to the conversation, whose length must stay about what it is said to be. */
const RUNS_IN_A_BLOCK = 50;

/** A run on a model that answers at once, against the same model called directly. The answer comes in one piece. */
export const runBackend: Backend = {
  name: "run",
  jobs: {
    "run-overhead": async ({ sizes }) => {
      const client = instantClient(1);
      const lengths = [LOADED_MESSAGES, sizes.messages * 2, sizes.manyMessages];
      const stored = lengths.map((length) => inStore(client, length));
      const inSessions = lengths.map((length) => inSession(client, length));
      const contenders = await Promise.all([...inSessions, ...stored]);
      return { contenders: [raw(client), ephemeral(client), ...contenders, await streamed(client)] };
    },
    import: (context) => importJob(context, { folder: "agent" }),
  },
};

/** The same with an answer in fifty pieces, as models stream them. */
export const runInPiecesBackend: Backend = {
  name: "run-50-pieces",
  jobs: {
    "run-overhead": async (_context: JobContext): Promise<OpenJob> => {
      const client = instantClient(50);
      const [session, store] = [await inSession(client, LOADED_MESSAGES), await inStore(client, LOADED_MESSAGES)];
      return { contenders: [raw(client), ephemeral(client), session, store, await streamed(client)] };
    },
  },
};

/** A model that has its answer ready. */
export function instantClient(pieces: number): ChatClient {
  const text = assistantText(0);
  const length = Math.ceil(text.length / pieces);
  const texts = Array.from({ length: pieces }, (_, index) => text.slice(index * length, (index + 1) * length));
  return {
    contractVersion: 1,
    storesByDefault: false,
    async *stream() {
      for (const piece of texts) {
        yield { contents: [{ type: "text", text: piece }] };
      }
    },
  };
}

function raw(client: ChatClient): Operation {
  const input = [...messages(LOADED_MESSAGES), turn(LOADED_MESSAGES).user];
  return {
    name: "raw",
    operation: async () => {
      let text = "";
      for await (const { contents = [] } of client.stream(input, {})) {
        for (const content of contents) {
          text += content.type === "text" ? content.text : "";
        }
      }
      assertAnswer(text);
    },
  };
}

function ephemeral(client: ChatClient): Operation {
  const agent = new Agent({ client });
  return {
    name: "agentfw ephemeral",
    operation: async () => assertAnswer((await agent.run(userText(0))).text),
  };
}

/** History in a store in memory, of which a run loads the newest 20 messages. */
async function inStore(client: ChatClient, length: number): Promise<Operation> {
  const name = length === LOADED_MESSAGES ? "agentfw store" : `agentfw store ${length}`;
  return wholeRuns(name, await storeAgent(client, length));
}

/** Runs whose answers are not read piece by piece. */
export async function wholeRuns(
  name: string,
  { agent, renew }: Awaited<ReturnType<typeof storeAgent>>,
): Promise<Operation> {
  let session = await renew();
  return {
    name,
    maxOperations: RUNS_IN_A_BLOCK,
    prepare: async () => {
      session = await renew();
    },
    operation: async () => assertAnswer((await agent.run(userText(0), { session })).text),
  };
}

/** History in a store, and the answer read piece by piece. */
async function streamed(client: ChatClient): Promise<Operation> {
  const { agent, renew } = await storeAgent(client, LOADED_MESSAGES);
  let session = await renew();
  return {
    name: "agentfw store, stream",
    maxOperations: RUNS_IN_A_BLOCK,
    prepare: async () => {
      session = await renew();
    },
    operation: async () => {
      let text = "";
      for await (const update of agent.runStream(userText(0), { session })) {
        text += update.text;
      }
      assertAnswer(text);
    },
  };
}

/** An agent on a store in memory, and conversations of a length for it. */
export async function storeAgent(
  client: ChatClient,
  length: number,
  middleware: AgentOptions["middleware"] = [],
  watched: (store: HistoryStore) => HistoryStore = (store) => store,
): Promise<{ readonly agent: Agent; readonly renew: () => Promise<AgentSession> }> {
  const store = watched(new InMemoryHistoryStore());
  const provider = new HistoryProvider(store, { maxMessages: LOADED_MESSAGES });
  let session: AgentSession | undefined;
  return {
    agent: new Agent({ client, middleware, contextProviders: [provider] }),
    renew: renewing(length, async () => {
      if (session !== undefined) {
        await provider.conversation(session).clear();
      }
      session = new AgentSession();
      await seedStore(store, provider, session, messages(length));
      return session;
    }),
  };
}

/** History in the session, where an agent keeps it by itself; a run loads the newest 20 messages. */
async function inSession(client: ChatClient, length: number): Promise<Operation> {
  const provider = new InMemoryHistoryProvider({ maxMessages: LOADED_MESSAGES });
  const contextProviders: ContextProvider[] = [provider];
  const agent = new Agent({ client, contextProviders });
  const renew = renewing(length, async () => {
    const session = new AgentSession();
    provider.setMessages(session, messages(length));
    return session;
  });
  let session = await renew();
  return {
    name: length === LOADED_MESSAGES ? "agentfw" : `agentfw ${length}`,
    maxOperations: RUNS_IN_A_BLOCK,
    prepare: async () => {
      session = await renew();
    },
    operation: async () => assertAnswer((await agent.run(userText(0), { session })).text),
  };
}

/** Gives the same conversation until it would have grown by more than a quarter, or for one block at least. */
function renewing(length: number, make: () => Promise<AgentSession>): () => Promise<AgentSession> {
  let made: AgentSession | undefined;
  let grown = 0;
  return async () => {
    grown += 2 * RUNS_IN_A_BLOCK;
    if (made === undefined || grown > length / 4) {
      made = await make();
      grown = 0;
    }
    return made;
  };
}

function assertAnswer(text: string): void {
  if (text !== assistantText(0)) {
    throw new BenchmarkError("a run did not give the model's answer");
  }
}
