import { AgentSession, type DiagnosticEvent, type FileStore, messageText, RunContext } from "@agentfw/core";
import { Run } from "@agentfw/core/run";
import { FileMemoryProvider, type FileMemoryProviderOptions } from "../../src/index.ts";

/** A store without anything optional. */
export function minimalStore(inner: FileStore): FileStore {
  return {
    contractVersion: 1,
    read: (path, options) => inner.read(path, options),
    write: (path, text, options) => inner.write(path, text, options),
    delete: (path, options) => inner.delete(path, options),
    exists: (path, options) => inner.exists(path, options),
    list: (directory, options) => inner.list(directory, options),
    search: (pattern, options) => inner.search(pattern, options),
  };
}

/** Who runs. */
export interface RunOf {
  readonly owner?: string | null;
  readonly sessionId?: string;
  readonly ephemeral?: boolean;
  readonly signal?: AbortSignal;
}

/** One run as the provider sees it, with its tools ready to be called. */
export interface MemoryRun {
  /** The message that lists the memories, or undefined. */
  readonly index: string | undefined;
  readonly instructions: string;
  readonly tools: readonly string[];
  readonly events: readonly DiagnosticEvent[];
  call(tool: string, args?: unknown): Promise<unknown>;
}

/** Begins a run with one provider. */
export async function begin(provider: FileMemoryProvider, of: RunOf = {}): Promise<MemoryRun> {
  const { owner = null, sessionId = "session-1", ephemeral = false, signal } = of;
  const session = new AgentSession({ sessionId, owner });
  const events: DiagnosticEvent[] = [];
  const onDiagnostic = (event: DiagnosticEvent) => events.push(event);
  const run = new Run({ runId: "run-1", session, ephemeral, serviceManaged: false, input: [], signal, onDiagnostic });
  const context = new RunContext(run, provider);
  await provider.beforeRun(context);
  const tools = run.tools.flatMap((source) => (typeof source === "function" ? source() : source));
  const [message] = run.contributions.flatMap(({ messages }) => messages);
  return {
    index: message && messageText(message),
    instructions: run.instructions.join("\n"),
    tools: tools.map(({ name }) => name),
    events,
    async call(name, args = {}) {
      const tool = tools.find((one) => one.name === `file_memory_${name}`);
      return tool?.execute?.(args, {
        runId: "run-1",
        callId: "call-1",
        idempotencyKey: "key-1",
        session,
        owner,
        signal: run.signal,
      });
    },
  };
}

/** A run over a store with the scope `users/42`. */
export async function beginOn(store: FileStore, options: FileMemoryProviderOptions = {}): Promise<MemoryRun> {
  return begin(new FileMemoryProvider(store, { scope: "users/42", ...options }));
}

/** The lines of the index that name files. */
export function indexLines({ index = "" }: MemoryRun): string[] {
  return index.split("\n").filter((line) => line.startsWith("- "));
}
