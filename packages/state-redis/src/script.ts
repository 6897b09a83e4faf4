import { createHash } from "node:crypto";
import { AgentFrameworkError } from "@agentfw/core";
import type { RedisClient } from "./client.ts";
import { answerWord } from "./errors.ts";
import { PROVIDER } from "./provider.ts";

/** A Lua script and the name under which servers keep it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** Puts a script together of its parts. */
export function script(...parts: readonly string[]): Script {
  const text = parts.join("");
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/**
 * Runs a script that gives a list of texts. All keys have the same hash tag.
 *
 * @throws what the driver threw; `unsupported` when it gives answers in another form.
 */
export async function runScript(
  client: RedisClient,
  { sha, text }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<readonly string[]> {
  const rest = [keys.length, ...keys, ...args];
  let answer: unknown;
  try {
    answer = await send(client, "evalsha", [sha, ...rest]);
  } catch (error) {
    if (answerWord(error) !== "NOSCRIPT") {
      throw error;
    }
    // The server was started, took over or was told to forget its scripts. It keeps this one from now on.
    answer = await send(client, "eval", [text, ...rest]);
  }
  if (!Array.isArray(answer) || !answer.every((part) => typeof part === "string")) {
    throw new AgentFrameworkError("unsupported", "client: it must give the answers of scripts as lists of texts", {
      provider: PROVIDER,
    });
  }
  return answer;
}

function send(client: RedisClient, command: string, args: (string | number)[]): Promise<unknown> {
  const answer: unknown = client.call(command, args);
  if (typeof answer !== "object" || answer === null || !("then" in answer)) {
    throw new AgentFrameworkError("configuration", "client: its call must give a promise", { provider: PROVIDER });
  }
  return Promise.resolve(answer);
}
