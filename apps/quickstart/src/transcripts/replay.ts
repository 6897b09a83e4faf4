import { Agent } from "@agentfw/agent";
import type { AgentSession, ContextProvider, Message, MessageHistoryProvider } from "@agentfw/core";
import type { OpenBackend } from "../backends/backend.ts";
import type { Plan } from "./plan.ts";
import { ReplayingClient, ReplayingTools } from "./replaying-client.ts";

/** As much of the history as a run loads. A real agent would bound it, too. */
const MAX_MESSAGES = 40;

/**
 * A model must be given something, and a recording may begin with an answer. What a context provider adds is not stored.
 * With `loadsHistory` it also takes the place of the history provider that loads, and loads nothing.
 */
function note(loadsHistory: boolean): ContextProvider {
  return {
    sourceId: "note",
    loadsHistory,
    beforeRun: async (context) => context.addMessages("A recording is replayed."),
  };
}

/** Brings a recording into the store by running an agent: its inputs go in, and a replaying model and tools answer. */
export async function replay(plan: Plan, backend: OpenBackend, session: AgentSession): Promise<void> {
  const tools = new ReplayingTools();
  const client = new ReplayingClient(tools);
  const agentOver = (...contextProviders: ContextProvider[]) =>
    new Agent({
      name: "ReplayingAgent",
      client,
      contextProviders,
      middleware: [tools.middleware],
      maxModelCalls: Number.MAX_SAFE_INTEGER,
      maxConsecutiveErrors: Number.MAX_SAFE_INTEGER,
    });
  const usual = agentOver(note(false), await backend.provider({ maxMessages: MAX_MESSAGES }));
  const storing = agentOver(note(true), await backend.provider({ load: false }));
  for (const run of plan.runs) {
    client.prepare(run);
    const agent = run.loads ? usual : storing;
    await agent.run(run.input, { session, tools: tools.of(run) });
    client.assertDone();
  }
}

/** What a model would be given if the conversation went on: loads the history as every run does. */
export async function loadForModel(history: MessageHistoryProvider, session: AgentSession): Promise<Message[]> {
  const given: Message[] = [];
  const agent = new Agent({
    client: {
      contractVersion: 1,
      storesByDefault: false,
      // It answers with nothing, so nothing is stored.
      async *stream(messages) {
        given.push(...messages);
        yield {};
      },
    },
    contextProviders: [history],
  });
  await agent.run([], { session });
  return given;
}
