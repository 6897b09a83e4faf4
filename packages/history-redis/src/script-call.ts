import type { Send } from "./calls.ts";

/** Names a script, whose text is loaded later than a call may be made. */
export type ScriptName = "append" | "clear" | "page" | "replace";

/** The two ways to send a script: in one round trip to whoever knows it, and with its text. */
export interface ScriptCall {
  readonly send: Send;
  readonly sendScript: Send;
}

/** A script with its keys and arguments, ready to be sent. */
export function scriptCall(name: ScriptName, keys: readonly string[], args: readonly string[]): ScriptCall {
  return evalCall(name, ["", String(keys.length), ...keys, ...args]);
}

/**
 * The same of all that stands behind the command: a place for what the server calls the script, the number of keys, keys
 * and arguments. Not copied, because that would be a good part of what a call costs.
 */
export function evalCall(name: ScriptName, all: string[]): ScriptCall {
  return {
    send: (client, { SCRIPTS }) => {
      all[0] = SCRIPTS[name].sha;
      return client.call("evalsha", all);
    },
    sendScript: (client, { SCRIPTS }) => client.call("eval", [SCRIPTS[name].text, ...all.slice(1)]),
  };
}
