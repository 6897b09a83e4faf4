import { AgentFrameworkError } from "@agentfw/core";
import { RedisProblem } from "./errors.ts";
import { PROVIDER } from "./provider.ts";

/** Stored data that cannot be read. The key goes to the cause only: it names the owner. */
export function corruptError(position: string, key: string): AgentFrameworkError {
  const cause = new RedisProblem(`an element of ${key} is no record: ${position}`);
  return new AgentFrameworkError("corrupt", `a stored record cannot be read (${position})`, {
    provider: PROVIDER,
    position,
    cause,
  });
}
