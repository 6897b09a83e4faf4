import { type AgentFrameworkError, type ErrorCode, isAbortError, isAgentFrameworkError } from "@agentfw/core";

/** What the model is told where the error's own words are for someone else. */
const SENTENCES: Readonly<Partial<Record<ErrorCode, string>>> = {
  corrupt: "what is stored there is not text",
  outcome_unknown: "it is not certain whether it was done; read the file to see",
  timeout: "it took too long and was given up",
  unauthorized: "the memory store does not allow it",
  unavailable: "the memory store cannot be reached at the moment",
  unsupported: "the memory store cannot do that",
};

/** Codes whose messages are about what the model passed. */
const OF_THE_MODEL: readonly ErrorCode[] = ["configuration", "conflict", "too_large"];

/**
 * An error as the model reads it: what did not work and why, in words that it can act on. Nothing of an error that is not
 * one of the framework's gets through, because it may name the machine.
 */
export function errorText(action: string, error: unknown): string {
  return `Error: could not ${action}: ${reasonOf(error)}.`;
}

function reasonOf(error: unknown): string {
  if (isOfTheModel(error)) {
    return error.message.replace(/^\[[^\]]*\] /, "");
  }
  const sentence = isAgentFrameworkError(error) ? SENTENCES[error.code] : undefined;
  return sentence ?? "the memory store failed";
}

/** True for what the model did wrong; all else is for the operator to know. */
export function isOfTheModel(error: unknown): error is AgentFrameworkError {
  return isAgentFrameworkError(error) && OF_THE_MODEL.includes(error.code);
}

/** True for a run that was given up, which no tool may turn into an answer. */
export function isGivenUp(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted && (isAbortError(error) || error === signal.reason);
}
