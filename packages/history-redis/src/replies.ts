import { ServerProblem } from "@agentfw/core/backend";

/** An answer that must be a list. @throws `unsupported` */
export function listOf(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) {
    throw unexpectedAnswer();
  }
  return reply;
}

/** An answer that must be a text. @throws `unsupported` */
export function textOf(reply: unknown): string {
  if (typeof reply !== "string") {
    throw unexpectedAnswer();
  }
  return reply;
}

/** What answered is no Redis as we know it. */
export function unexpectedAnswer(): ServerProblem {
  return new ServerProblem("unsupported", "the server answered in a form that this version does not know");
}

/** Stored data that cannot be read. The key goes to the cause only: it names the owner. */
export function corruptProblem(position: string, key: string): ServerProblem {
  const problem = new ServerProblem("corrupt", `a stored record cannot be read (${position})`, { position });
  problem.message += ` in ${key}`;
  return problem;
}
