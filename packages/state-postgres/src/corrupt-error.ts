import { AgentFrameworkError } from "@agentfw/core";
import { PROVIDER } from "./provider.ts";

/** Stored data that cannot be read. It was left as it is, and goes nowhere. */
export function corruptError(operation: string, position: string): AgentFrameworkError {
  return new AgentFrameworkError("corrupt", `${operation}: the ${position} of an item cannot be read`, {
    provider: PROVIDER,
    position,
  });
}
