import { isAgentFrameworkError } from "@agentfw/core";

/** The command line does not make sense. Ends the program with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Something that its message explains; where in the program it was noticed would explain nothing. */
export class ExplainedError extends Error {
  override readonly name = "ExplainedError";
}

/** What a person needs to know about an error, with the code of the framework's own ones and with its cause. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  // An error that carries the answer has one of the same text inside.
  const isNews = error.cause instanceof Error && !error.message.includes(error.cause.message);
  const cause = isNews && error.cause instanceof Error ? ` (${error.cause.message})` : "";
  return isAgentFrameworkError(error) ? `${error.code}: ${error.message}${cause}` : `${error.message}${cause}`;
}
