import { AgentFrameworkError } from "@agentfw/core";
import { PROVIDER } from "./provider.ts";

/** Stored data that cannot be read, or that contradicts other stored data. It was left as it is. */
export function corruptError(operation: string, position: string): AgentFrameworkError {
  const what = position === "index" ? "the owner's index is not whole" : `the ${position} of an item cannot be read`;
  return new AgentFrameworkError("corrupt", `${operation}: ${what}`, { provider: PROVIDER, position });
}
