import { isAgentFrameworkError } from "@agentfw/core";

/** What the conventions say when nothing better is known. */
const OTHER = "_OTHER";

/**
 * The value of `error.type`: the code of an error of ours, else the name of the error's class. A text that is not a
 * plain name says too much to be an attribute of a metric.
 *
 * @param signal The caller's. Its own reason means that the run was given up, whatever was passed as the reason.
 */
export function errorType(error: unknown, signal?: AbortSignal): string {
  if (isAgentFrameworkError(error)) {
    return error.code;
  }
  const name = nameOf(error);
  const isGivenUp = signal?.aborted === true && error === signal.reason;
  return isGivenUp && (name === OTHER || name === "Error") ? "AbortError" : name;
}

function nameOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("name" in error)) {
    return OTHER;
  }
  // Many classes of errors do not set their name.
  const name = error.name === "Error" ? error.constructor?.name : error.name;
  return typeof name === "string" && /^[A-Za-z_$][\w$.]{0,63}$/.test(name) ? name : OTHER;
}
