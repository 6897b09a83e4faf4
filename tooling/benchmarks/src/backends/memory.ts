import {
  AgentSession,
  HistoryProvider,
  InMemoryHistoryProvider,
  InMemoryHistoryStore,
  type Message,
} from "@agentfw/core";
import { LOADED_MESSAGES, messages, TurnSource, turn } from "../conversation.ts";
import { importJob } from "../import-time.ts";
import type { Backend, JobContext, OpenJob, Operation } from "../measurement.ts";
import { peerAppends, peerConcurrentAppends, peerLoads } from "../peers.ts";
import { appendTurn, assertLoaded, loadWindow, seedStore } from "../provider-turns.ts";

/** Turns that are appended in a block; the conversation is made anew for the next one. */
const TURNS_IN_A_BLOCK = 500;

/** The in-memory store and the session's own history, beside messages in an array. */
export const memoryBackend: Backend = {
  name: "memory",
  jobs: {
    "append-turn": async (context) => ({
      contenders: [
        rawAppend(context.sizes.messages),
        storeAppend(context.sizes.messages),
        sessionAppend(context.sizes.messages),
        ...(await peerAppends(context, "memory")),
      ],
    }),
    "load-last-20": (context) => loadJob(context, context.sizes.messages),
    "load-last-20-of-100000": (context) => loadJob(context, context.sizes.manyMessages),
    "concurrent-64": async (context) => ({
      contenders: [
        rawConcurrent(context.sizes.conversations),
        storeConcurrent(context.sizes.conversations),
        ...(await peerConcurrentAppends(context, "memory")),
      ],
    }),
    import: (context) => importJob(context, { folder: "core" }),
  },
};

async function loadJob(context: JobContext, count: number): Promise<OpenJob> {
  const contenders = [rawLoad(count), await storeLoad(count), sessionLoad(count)];
  return { contenders: [...contenders, ...(await peerLoads(context, "memory", count))] };
}

function rawAppend(count: number): Operation {
  const turns = new TurnSource();
  let list: Message[] = [];
  return {
    name: "raw",
    maxOperations: TURNS_IN_A_BLOCK,
    prepare: () => {
      list = messages(count);
    },
    operation: () => {
      const { user, assistant } = turns.next();
      list.push(user, assistant);
    },
  };
}

function storeAppend(count: number): Operation {
  const turns = new TurnSource();
  const store = new InMemoryHistoryStore();
  const provider = new HistoryProvider(store);
  let session = new AgentSession();
  return {
    name: "agentfw",
    maxOperations: TURNS_IN_A_BLOCK,
    prepare: async () => {
      await provider.conversation(session).clear();
      session = new AgentSession();
      await seedStore(store, provider, session, messages(count));
    },
    operation: () => appendTurn(provider, session, turns.next()),
  };
}

function sessionAppend(count: number): Operation {
  const turns = new TurnSource();
  const provider = new InMemoryHistoryProvider();
  let session = new AgentSession();
  return {
    name: "agentfw session",
    maxOperations: TURNS_IN_A_BLOCK,
    prepare: () => {
      session = new AgentSession();
      provider.setMessages(session, messages(count));
    },
    operation: () => appendTurn(provider, session, turns.next()),
  };
}

function rawLoad(count: number): Operation {
  const list = messages(count);
  return { name: "raw", operation: () => assertLoaded(list.slice(-LOADED_MESSAGES).length) };
}

async function storeLoad(count: number): Promise<Operation> {
  const store = new InMemoryHistoryStore();
  const provider = new HistoryProvider(store, { maxMessages: LOADED_MESSAGES });
  const session = new AgentSession();
  await seedStore(store, provider, session, messages(count));
  return { name: "agentfw", operation: () => loadWindow(provider, session, turn(count)) };
}

function sessionLoad(count: number): Operation {
  const provider = new InMemoryHistoryProvider({ maxMessages: LOADED_MESSAGES });
  const session = new AgentSession();
  provider.setMessages(session, messages(count));
  return { name: "agentfw session", operation: () => loadWindow(provider, session, turn(count)) };
}

function rawConcurrent(count: number): Operation {
  const turns = new TurnSource();
  const lists = Array.from({ length: count }, (): Message[] => []);
  return {
    name: "raw",
    operation: () => {
      for (const list of lists) {
        const { user, assistant } = turns.next();
        list.push(user, assistant);
      }
    },
  };
}

function storeConcurrent(count: number): Operation {
  const turns = new TurnSource();
  const provider = new HistoryProvider(new InMemoryHistoryStore());
  const sessions = Array.from({ length: count }, () => new AgentSession());
  return {
    name: "agentfw",
    operation: () => Promise.all(sessions.map((session) => appendTurn(provider, session, turns.next()))),
  };
}
