import { createHash } from "node:crypto";
import type { Send } from "./calls.ts";
import type { RedisClient } from "./client.ts";
import { answerWord } from "./errors.ts";

/** A Lua script and the name under which servers keep it. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** Makes a script of the parts of its text. */
export function script(...parts: readonly string[]): Script {
  const text = parts.join("");
  return { text, sha: createHash("sha1").update(text).digest("hex") };
}

/** Lua: the version that stands in the newest element of `records`, as `versionOf` reads it. */
export const VERSION: string = `
local function version()
  local newest = redis.call('LINDEX', records, -1)
  if not newest then return '' end
  return string.match(newest, '^([0-9a-z]+%-[0-9a-f]+)|') or '~' .. redis.sha1hex(newest)
end
`;

/** The two ways to send a script: in one round trip to whoever knows it, and with its text. */
export interface ScriptCall {
  readonly send: Send;
  readonly sendScript: Send;
}

/** A script with its keys and arguments, ready to be sent. */
export function scriptCall(script: Script, keys: readonly string[], args: readonly string[]): ScriptCall {
  return evalCall(script, [script.sha, String(keys.length), ...keys, ...args]);
}

/** The same of all that stands behind the command: the name of the script, the number of keys, keys and arguments. */
export function evalCall({ text }: Script, all: string[]): ScriptCall {
  return {
    send: (client) => client.call("evalsha", all),
    sendScript: (client) => client.call("eval", [text, ...all.slice(1)]),
  };
}

/** Runs a script that is one of several commands of a call. */
export async function runScript(
  client: RedisClient,
  script: Script,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> {
  const { send, sendScript } = scriptCall(script, keys, args);
  try {
    return await send(client);
  } catch (error) {
    if (answerWord(error) !== "NOSCRIPT") {
      throw error;
    }
    return sendScript(client);
  }
}
