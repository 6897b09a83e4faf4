import { AgentFrameworkError } from "@agentfw/core";
import { PROVIDER } from "./provider.ts";

/** An answer that must be a list. @throws `unsupported` when it is none: what answered is no Redis as we know it. */
export function listOf(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) {
    throw unexpected("a list");
  }
  return reply;
}

/** An answer that must be a text. @throws `unsupported` */
export function textOf(reply: unknown): string {
  if (typeof reply !== "string") {
    throw unexpected("a text");
  }
  return reply;
}

function unexpected(what: string): AgentFrameworkError {
  return new AgentFrameworkError("unsupported", `the server answered something else than ${what}`, {
    provider: PROVIDER,
  });
}
