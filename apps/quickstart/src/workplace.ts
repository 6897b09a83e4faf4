import { Agent } from "@agentfw/agent";
import type { AgentSession, MessageHistoryProvider } from "@agentfw/core";
import type { Backend, OpenBackend } from "./backends/backend.ts";
import { openBackend } from "./backends/index.ts";
import { openMemory } from "./memory.ts";
import { chooseModel, type Model } from "./model.ts";
import type { Options } from "./options.ts";
import { openSession } from "./session-file.ts";
import { complain } from "./terminal.ts";

/** All that one conversation needs in one process. */
export interface Workplace {
  readonly agent: Agent;
  readonly session: AgentSession;
  readonly model: Model;
  readonly backend: Backend & OpenBackend;
  readonly history: MessageHistoryProvider;
}

/** What a person is told whose conversation ends with the process; undefined when it stays. */
export function howToKeep({ backend }: Workplace, { sessionFile }: Options): string | undefined {
  return backend.isInSession && sessionFile !== undefined ? undefined : backend.howToKeep;
}

/** Puts an agent together. This is the part to copy: a model, a history provider over a backend, and a session. */
export async function openWorkplace(options: Options): Promise<Workplace> {
  const backend = await openBackend(options);
  const model = await chooseModel(options.api);
  const session = await openSession(options);
  const history = await backend.provider();
  const agent = new Agent({
    name: "QuickstartAgent",
    client: model.client,
    instructions: "You are a helpful assistant. Answer in one or two sentences.",
    contextProviders: options.memory ? [history, openMemory(options).provider] : [history],
    onDiagnostic: ({ type, message }) => complain(`note: ${type}: ${message}`),
  });
  return { agent, session, model, backend, history };
}
