import { AgentSession } from "@agentfw/core";
import type { Backend, OpenBackend } from "../backends/backend.ts";
import { askAgain } from "../child-process.ts";
import { ExplainedError, explain } from "../errors.ts";
import type { Options } from "../options.ts";
import { type Plan, planRuns } from "./plan.ts";
import { parseRecording } from "./recording.ts";
import { lineText, type RecordingLine } from "./recording-lines.ts";
import { replay } from "./replay.ts";
import { parseReport, type VerifyReport, type VerifyRequest } from "./verify.ts";

/** What became of one line of the file. */
export interface ConversationOutcome {
  readonly line: number;
  readonly id: string | undefined;
  readonly messages: number;
  readonly plan: Plan | undefined;
  readonly report: VerifyReport | undefined;
  /** Why it was not compared at all. */
  readonly failure: string | undefined;
}

/** One conversation on its way: brought into the store by this process, then compared by another one. */
export class ConversationJob {
  readonly #line: RecordingLine;
  readonly #options: Options;
  readonly #backend: Backend & OpenBackend;
  readonly #session: AgentSession;
  #id: string | undefined;
  #messages = 0;
  #plan: Plan | undefined;
  #failure: string | undefined;

  constructor(line: RecordingLine, options: Options, backend: Backend & OpenBackend) {
    this.#line = line;
    this.#options = options;
    this.#backend = backend;
    this.#session = new AgentSession({ sessionId: sessionIdOf(options.replay, line.number), owner: options.owner });
  }

  /** Replays the recording, unless an earlier replay is to be checked. Never throws: what went wrong is in the outcome. */
  async store(): Promise<void> {
    try {
      const recording = parseRecording(lineText(this.#line));
      this.#id = recording.id;
      this.#messages = recording.messages.length;
      this.#plan = planRuns(recording.messages);
      if (!this.#options.check) {
        await this.#assertNothingStored();
        await replay(this.#plan, this.#backend, this.#session);
      }
    } catch (error) {
      this.#failure = explain(error);
    }
  }

  /** Lets a new process load and compare what is stored. */
  async verify(): Promise<ConversationOutcome> {
    const base = { line: this.#line.number, id: this.#id, messages: this.#messages, plan: this.#plan };
    if (this.#failure !== undefined) {
      return { ...base, report: undefined, failure: this.#failure };
    }
    const { code, output, errorOutput } = await askAgain(["--verify-transcript"], JSON.stringify(this.#request()));
    const report = code === 0 ? parseReport(output) : undefined;
    const failure =
      report === undefined ? `the comparing process ended with exit code ${code}: ${errorOutput}` : undefined;
    return { ...base, report, failure };
  }

  #request(): VerifyRequest {
    const { backend, data, owner } = this.#options;
    return {
      backend,
      data,
      url: this.#backend.url,
      owner,
      session: this.#session.sessionId,
      sessionJson: this.#backend.isInSession ? JSON.stringify(this.#session) : undefined,
      line: lineText(this.#line),
    };
  }

  async #assertNothingStored(): Promise<void> {
    const stored = await this.#backend.provider().getMessages(this.#session);
    if (stored.length > 0) {
      throw new ExplainedError(`the replay ${this.#options.replay} is there already; --check compares it`);
    }
  }
}

/** The session of a line. Ids of recordings are no help: they may be missing or repeat. */
export function sessionIdOf(replay: string, lineNumber: number): string {
  return `transcript-${replay}-${lineNumber}`;
}
