import { createHash } from "node:crypto";

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
