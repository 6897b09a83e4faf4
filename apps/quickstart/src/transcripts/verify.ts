import { text as readText } from "node:stream/consumers";
import { AgentSession } from "@agentfw/core";
import type { OpenBackend } from "../backends/backend.ts";
import { type BackendName, isBackendName, openBackend } from "../backends/index.ts";
import { explain, UsageError } from "../errors.ts";
import { differences } from "./differences.ts";
import { fromMessages } from "./from-messages.ts";
import { planRuns } from "./plan.ts";
import { membersOf, parseRecording, type Recording } from "./recording.ts";
import { loadForModel } from "./replay.ts";

/** What a verifying process is asked. */
export interface VerifyRequest {
  readonly backend: BackendName;
  readonly data: string;
  readonly url?: string | undefined;
  readonly owner: string;
  readonly session: string;
  /** The serialized session, when the conversation is in it and nowhere else. */
  readonly sessionJson?: string | undefined;
  /** The recording, as its line stands in the file. */
  readonly line: string;
}

/** What it answers. */
export interface VerifyReport {
  /** The first of them. */
  readonly differences: readonly string[];
  readonly differenceCount: number;
  readonly storedMessages: number;
  /** Whether the conversation was also compared as a model would be given it. */
  readonly comparedForModel: boolean;
}

const REPORTED = 3;

/** Loads one conversation in this process, which knows its key and nothing else, and compares it with its recording. */
export async function verifyFromStandardInput(): Promise<number> {
  const request = parseRequest(await readText(process.stdin));
  const report = await verify(request).catch((error: unknown) => failed(`it cannot be loaded: ${explain(error)}`));
  process.stdout.write(JSON.stringify(report));
  return 0;
}

function failed(reason: string): VerifyReport {
  return { differences: [reason], differenceCount: 1, storedMessages: 0, comparedForModel: false };
}

async function verify(request: VerifyRequest): Promise<VerifyReport> {
  const { owner, session: sessionId, sessionJson } = request;
  const recording = parseRecording(request.line);
  const session =
    sessionJson === undefined ? new AgentSession({ sessionId, owner }) : AgentSession.fromJSON(sessionJson, { owner });
  const backend = await openBackend(request);
  try {
    return await compared(recording, backend, session);
  } finally {
    await backend.close();
  }
}

/**
 * Compares what is stored, message by message. A regular conversation is compared a second time, as a run loads it and a
 * model is given it; others are repaired on that way by contract.
 */
async function compared(recording: Recording, backend: OpenBackend, session: AgentSession): Promise<VerifyReport> {
  const history = backend.provider();
  const recorded = recording.messages.map(({ members }) => members);
  const stored = await history.getMessages(session);
  const asStored = differences(recorded, fromMessages(stored));
  const comparedForModel = asStored.length === 0 && recorded.length > 0 && planRuns(recording.messages).isRegular;
  const forModel = comparedForModel
    ? differences(recorded, fromMessages(await loadForModel(history, session))).map((text) => `for a model, ${text}`)
    : [];
  const all = [...asStored, ...forModel];
  return {
    differences: all.slice(0, REPORTED),
    differenceCount: all.length,
    storedMessages: stored.length,
    comparedForModel,
  };
}

function parseRequest(text: string): VerifyRequest {
  const members = membersOf(JSON.parse(text)) ?? {};
  const optional = (name: string) => {
    const value = members[name];
    if (value !== undefined && typeof value !== "string") {
      throw new UsageError(`the request to verify is malformed: ${name} is not a text`);
    }
    return value;
  };
  const required = (name: string) => {
    const value = optional(name);
    if (value === undefined) {
      throw new UsageError(`the request to verify is malformed: ${name} is missing`);
    }
    return value;
  };
  const backend = required("backend");
  if (!isBackendName(backend)) {
    throw new UsageError(`the request to verify is malformed: there is no backend ${backend}`);
  }
  return {
    backend,
    data: required("data"),
    url: optional("url"),
    owner: required("owner"),
    session: required("session"),
    sessionJson: optional("sessionJson"),
    line: required("line"),
  };
}

/** Reads what a verifying process wrote; `undefined` when it is no report. */
export function parseReport(text: string): VerifyReport | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The process broke off; its exit code and its error output say more.
    return undefined;
  }
  const { differences: list, differenceCount, storedMessages, comparedForModel } = membersOf(value) ?? {};
  if (!Array.isArray(list) || typeof differenceCount !== "number" || typeof storedMessages !== "number") {
    return undefined;
  }
  return {
    differences: list.filter((entry) => typeof entry === "string"),
    differenceCount,
    storedMessages,
    comparedForModel: comparedForModel === true,
  };
}
