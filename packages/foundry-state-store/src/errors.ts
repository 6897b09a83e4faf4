import { AgentFrameworkError, type ErrorCode } from "@agentfw/core";

/** How this package signs its errors. */
export const PROVIDER = "foundry-state-store";

/** An error of this package. */
export function stateError(
  code: ErrorCode,
  message: string,
  extra: { readonly cause?: unknown; readonly currentVersion?: string | undefined; readonly position?: string } = {},
): AgentFrameworkError {
  return new AgentFrameworkError(code, message, { provider: PROVIDER, ...extra });
}
