import type { RedisClient } from "./client.ts";
import type { Engine } from "./load-engine.ts";
import type { ScriptName } from "./scripts.ts";

/** Sends a script over a client. */
export type Send = (client: RedisClient, engine: Engine) => Promise<unknown>;

/** The two ways to send a script: in one round trip to whoever knows it, and with its text. */
export interface ScriptCall {
  readonly send: Send;
  readonly sendWhole: Send;
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
    sendWhole: (client, { SCRIPTS }) => client.call("eval", [SCRIPTS[name].text, ...all.slice(1)]),
  };
}
