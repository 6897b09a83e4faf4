import {
  type AgentSession,
  type ContextProvider,
  type HistoryStore,
  jsonMessageCodec,
  type Message,
  RunContext,
} from "@agentfw/core";
import { Run } from "@agentfw/core/run";
import { LOADED_MESSAGES, type Turn } from "./conversation.ts";
import { BenchmarkError } from "./errors.ts";

/** A provider of histories, as a run calls it. */
type HistoryHooks = Required<Pick<ContextProvider, "sourceId" | "beforeRun" | "afterRun">>;

const NEVER = new AbortController().signal;

function runOf(session: AgentSession, { runId, user }: Turn): Run {
  return new Run({ runId, session, ephemeral: false, serviceManaged: false, signal: NEVER, input: [user] });
}

/** Stores a turn in the way in which a run that succeeded stores it. */
export async function appendTurn(provider: HistoryHooks, session: AgentSession, turn: Turn): Promise<void> {
  const run = runOf(session, turn);
  run.produced = [turn.assistant];
  await provider.afterRun(new RunContext(run, provider));
}

/** Loads a window in the way in which a run loads it. @throws BenchmarkError unless it has the expected messages. */
export async function loadWindow(provider: HistoryHooks, session: AgentSession, turn: Turn): Promise<void> {
  const run = runOf(session, turn);
  await provider.beforeRun(new RunContext(run, provider));
  assertLoaded(run.modelInput().length - 1);
}

/** A measurement of a load that loads nothing would be worse than none. */
export function assertLoaded(count: number): void {
  if (count !== LOADED_MESSAGES) {
    throw new BenchmarkError(`${count} messages were loaded in place of ${LOADED_MESSAGES}`);
  }
}

/** The newest messages stand in turns of their own; what is older comes in large pieces, which no load of them reads. */
const IN_TURNS = 1000;
const PIECE = 1000;

/** Fills the conversation that `provider`, over `store`, keeps of a session. */
export async function seedStore(
  store: HistoryStore,
  provider: Pick<ContextProvider, "sourceId">,
  session: AgentSession,
  messages: readonly Message[],
): Promise<void> {
  const key = { owner: session.owner, source: provider.sourceId, session: session.sessionId };
  const older = Math.max(0, messages.length - IN_TURNS);
  for (let start = 0; start < messages.length; ) {
    const end = start < older ? Math.min(older, start + PIECE) : Math.min(messages.length, start + 2);
    const context = (message: Message) => ({ key, recordId: message.messageId });
    const records = messages.slice(start, end).map(async (message) => ({
      id: message.messageId,
      data: await jsonMessageCodec.encode(message, context(message)),
    }));
    await store.append(key, await Promise.all(records));
    start = end;
  }
}
