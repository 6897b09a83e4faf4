import { createHash } from "node:crypto";
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

/** Runs a script that is one of several commands of a call. */
export async function runScript(
  client: RedisClient,
  { text, sha }: Script,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> {
  const rest = [String(keys.length), ...keys, ...args];
  try {
    return await client.call("evalsha", [sha, ...rest]);
  } catch (error) {
    if (answerWord(error) !== "NOSCRIPT") {
      throw error;
    }
    return client.call("eval", [text, ...rest]);
  }
}
