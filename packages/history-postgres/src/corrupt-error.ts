import { AgentFrameworkError } from "@agentfw/core";
import { PROVIDER } from "./provider.ts";

/** Stored data that cannot be read. The text itself goes nowhere. */
export function corruptError(position: string): AgentFrameworkError {
  return new AgentFrameworkError("corrupt", `read: a stored record cannot be read (${position})`, {
    provider: PROVIDER,
    position,
  });
}
