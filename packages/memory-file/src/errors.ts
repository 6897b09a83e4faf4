import { AgentFrameworkError, type AgentFrameworkErrorOptions, type ErrorCode } from "@agentfw/core";
import { FileProblem } from "@agentfw/core/backend";
import { PROVIDER } from "./provider-name.ts";

/** An error of this package. */
export function storeError(
  code: ErrorCode,
  message: string,
  details: Omit<AgentFrameworkErrorOptions, "provider"> = {},
): AgentFrameworkError {
  return new AgentFrameworkError(code, message, { provider: PROVIDER, ...details });
}

/** A link, pipe or device where a directory or file of the store should be, as the system would report a link. */
export function refusedError(name: string): FileProblem {
  return new FileProblem("ELOOP", `neither a plain file nor a directory: ${name}`);
}
