import {
  AgentSession,
  type DiagnosticEvent,
  type Message,
  type MessageHistoryProvider,
  type MessagesInput,
  messagesFromInput,
  RunContext,
  type RunOptions,
} from "../../src/index.ts";
import { Run } from "../../src/run.ts";

let runs = 0;

/** A run as an agent begins it, with what it reports. */
export function newRun(
  session: AgentSession,
  input: MessagesInput = [],
  options: Partial<RunOptions> = {},
): { run: Run; events: DiagnosticEvent[] } {
  runs += 1;
  const events: DiagnosticEvent[] = [];
  const runId = options.runId ?? `run${runs}`;
  const run = new Run({
    runId,
    session,
    ephemeral: false,
    serviceManaged: false,
    signal: new AbortController().signal,
    input: messagesFromInput(input, (index) => `${runId}:i${index}`),
    onDiagnostic: (event) => events.push(event),
    ...options,
  });
  return { run, events };
}

export function newSession(sessionId = "s1", owner: string | null = "owner"): AgentSession {
  return new AgentSession({ sessionId, owner });
}

/** What a provider loads for a run with this input. */
export async function load(
  provider: MessageHistoryProvider,
  session: AgentSession,
  input: MessagesInput = [],
): Promise<{ messages: Message[]; run: Run; context: RunContext; events: DiagnosticEvent[] }> {
  const { run, events } = newRun(session, input);
  const context = new RunContext(run, provider);
  await provider.beforeRun(context);
  return { messages: context.messages(), run, context, events };
}

/** A whole turn as an agent drives it: load, answer, store. Gives what the model would have been sent. */
export async function turn(
  provider: MessageHistoryProvider,
  session: AgentSession,
  input: MessagesInput,
  produced: readonly Message[],
): Promise<{ modelInput: Message[]; events: DiagnosticEvent[] }> {
  const { run, context, events } = await load(provider, session, input);
  const modelInput = run.modelInput();
  run.produced = produced;
  run.response = "the response";
  await provider.afterRun(context);
  return { modelInput, events };
}
