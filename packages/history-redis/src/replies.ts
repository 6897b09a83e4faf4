import { AgentFrameworkError } from "@agentfw/core";
import { PROVIDER } from "./provider.ts";

/** An answer that must be a list. @throws `unsupported` */
export function listOf(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) {
    throw unexpectedAnswer("the server answered something else than a list");
  }
  return reply;
}

/** An answer that must be a text. @throws `unsupported` */
export function textOf(reply: unknown): string {
  if (typeof reply !== "string") {
    throw unexpectedAnswer("the server answered something else than a text");
  }
  return reply;
}

/** What answered is no Redis as we know it. */
export function unexpectedAnswer(message: string): AgentFrameworkError {
  return new AgentFrameworkError("unsupported", message, { provider: PROVIDER });
}
