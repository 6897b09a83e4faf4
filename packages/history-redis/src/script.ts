import { createHash } from "node:crypto";
import type { RedisClient } from "./client.ts";

/** A Lua script and the name under which servers cache it. */
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

/**
 * Runs a script in one round trip. A server that does not know it, because it was restarted or failed over, is sent the
 * text, and knows it from then on.
 */
export async function runScript(
  client: RedisClient,
  { text, sha }: Script,
  keys: readonly string[],
  args: readonly string[],
): Promise<unknown> {
  try {
    return await client.call("evalsha", [sha, keys.length, ...keys, ...args]);
  } catch (error) {
    if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) {
      throw error;
    }
    return client.call("eval", [text, keys.length, ...keys, ...args]);
  }
}
