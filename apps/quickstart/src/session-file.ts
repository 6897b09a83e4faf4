import { readFile, rename, writeFile } from "node:fs/promises";
import { AgentFrameworkError, AgentSession, configurationError, isPlainObject } from "@agentfw/core";
import { ExplainedError, UsageError } from "./errors.ts";
import type { Options } from "./options.ts";

/**
 * The session that the command line names: from the session file when there is one, else by its id.
 *
 * The session's own JSON never says whose it is. So the file, which is on the trusted side, says it beside that: history
 * that travels in a session would otherwise be shown to whoever restores it.
 */
export async function openSession({ session, owner, sessionFile }: Options): Promise<AgentSession> {
  const text = sessionFile === undefined ? undefined : await readIfThere(sessionFile);
  if (text === undefined) {
    return new AgentSession({ sessionId: session, owner });
  }
  const restored = AgentSession.fromJSON(sessionOf(text, owner), { owner });
  if (restored.sessionId !== session) {
    throw new UsageError(`${sessionFile} holds the session ${restored.sessionId}, not ${session}`);
  }
  return restored;
}

function sessionOf(text: string, owner: string): unknown {
  let kept: unknown;
  try {
    kept = JSON.parse(text);
  } catch (cause) {
    throw configurationError("session file", "must be JSON", cause);
  }
  if (!isPlainObject(kept) || typeof kept["owner"] !== "string") {
    throw configurationError("session file", "must name its owner, beside its session");
  }
  if (kept["owner"] !== owner) {
    throw new AgentFrameworkError("unauthorized", "the session file is another owner's");
  }
  return kept["session"];
}

/** Writes the session's JSON in one step, so that a crash leaves the old or the new one. */
export async function keepSession(session: AgentSession, { sessionFile }: Options): Promise<void> {
  if (sessionFile === undefined) {
    return;
  }
  const temporary = `${sessionFile}.${process.pid}`;
  try {
    await writeFile(temporary, `${JSON.stringify({ owner: session.owner, session })}\n`, { mode: 0o600 });
    await rename(temporary, sessionFile);
  } catch (cause) {
    throw new ExplainedError("the session file cannot be written", { cause });
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return undefined;
    }
    throw new ExplainedError("the session file cannot be read", { cause: error });
  }
}
