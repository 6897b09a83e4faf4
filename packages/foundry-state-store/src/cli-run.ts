import { parseArgs } from "node:util";
import { isAgentFrameworkError } from "@agentfw/core";
import { type StateStoreEmulator, startEmulator } from "./emulator/emulator.ts";
import type { EmulatorLogEntry } from "./emulator/server.ts";

/** Where a command writes, and what ends it. */
export interface CliSurroundings {
  out(text: string): void;
  err(text: string): void;
  /** Resolves when the command is to end. */
  readonly ended: Promise<unknown>;
}

/** Exit codes of the command. */
const CODES = { done: 0, failed: 1, misused: 2 } as const;

const OPTIONS = {
  port: { type: "string" },
  host: { type: "string" },
  data: { type: "string" },
  user: { type: "string", multiple: true },
  "without-user": { type: "string" },
  "unknown-cursor": { type: "string" },
  verbose: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

const HELP = `An emulator of the Foundry state store.

  foundry-state-store emulator [OPTIONS]

  --port N               Where to listen; 0 takes a free port. Default: 0.
  --host ADDRESS         The address to listen on. Any token is accepted: leave it on this machine. Default: 127.0.0.1.
  --data DIR             Keep everything in this folder. Default: in memory, forgotten when it ends.
  --user CALLID=USER     Which user is behind a call id, for stores with user isolation. May be repeated.
  --without-user ANSWER  What an item operation of nobody gets there: 400, 401, 403, or token. Default: 400.
  --unknown-cursor WHAT  What follows a cursor that was never given: empty, or refuse. Default: empty.
  --verbose              Log every request, without tokens, values, keys, store names and call ids.
  --help                 Show this.

The first line on standard output is the project endpoint. Ends with an interrupt (Ctrl+C).
Exit codes: 0 it ended as it should, 1 something failed, 2 the command line makes no sense.
`;

/** Runs the command until it is to end, and gives its exit code. */
export async function runCli(args: readonly string[], surroundings: CliSurroundings): Promise<number> {
  const { out, err, ended } = surroundings;
  let options: Options;
  try {
    options = readOptions(args);
  } catch (error) {
    err(`foundry-state-store: ${reasonOf(error)}\nfoundry-state-store --help shows the options.\n`);
    return CODES.misused;
  }
  if (options === "help") {
    out(HELP);
    return CODES.done;
  }
  let emulator: StateStoreEmulator;
  try {
    const { isVerbose, ...given } = options;
    emulator = await startEmulator({ ...given, log: (entry) => show(entry, isVerbose, err) });
  } catch (error) {
    err(`foundry-state-store: ${reasonOf(error)}\n`);
    return isAgentFrameworkError(error, "configuration") ? CODES.misused : CODES.failed;
  }
  out(`${emulator.endpoint}\n`);
  const kept = options.dataDirectory === undefined ? "in memory, forgotten when it ends" : "kept in the folder";
  err(`The emulator is listening; what is stored is ${kept}. Use it by\n\n`);
  err(`  export FOUNDRY_PROJECT_ENDPOINT=${emulator.endpoint}\n\n`);
  await ended;
  await emulator.close();
  return CODES.done;
}

type Options = "help" | (NonNullable<Parameters<typeof startEmulator>[0]> & { readonly isVerbose: boolean });

class UsageError extends Error {}

function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: OPTIONS,
    allowPositionals: true,
    strict: true,
  });
  if (values.help) {
    return "help";
  }
  const [command, ...rest] = positionals;
  if (command !== "emulator" || rest.length > 0) {
    throw new UsageError(command === undefined ? "there is no command" : "there is one command: emulator");
  }
  return {
    port: portOf(values.port ?? "0"),
    host: values.host,
    dataDirectory: values.data,
    users: usersOf(values.user ?? []),
    withoutUser: withoutUserOf(values["without-user"] ?? "400"),
    unknownCursor: unknownCursorOf(values["unknown-cursor"] ?? "empty"),
    isVerbose: values.verbose === true,
  };
}

function portOf(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new UsageError("--port must be a whole number from 0 to 65535");
  }
  return Number(text);
}

function usersOf(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, callId, user] = /^([^=]+)=(.+)$/.exec(pair) ?? [];
      if (callId === undefined || user === undefined) {
        throw new UsageError("--user must be CALLID=USER");
      }
      return [callId, user];
    }),
  );
}

function withoutUserOf(text: string): 400 | 401 | 403 | "token" {
  const answer = ([400, 401, 403, "token"] as const).find((one) => String(one) === text);
  if (answer === undefined) {
    throw new UsageError("--without-user must be 400, 401, 403 or token");
  }
  return answer;
}

function unknownCursorOf(text: string): "empty" | "refuse" {
  if (text !== "empty" && text !== "refuse") {
    throw new UsageError("--unknown-cursor must be empty or refuse");
  }
  return text;
}

function show({ level, text }: EmulatorLogEntry, isVerbose: boolean, err: (text: string) => void): void {
  if (isVerbose || level === "error") {
    err(`${level} ${text}\n`);
  }
}

/** The first sentence: what `parseArgs` adds to it are suggestions for programs. */
function reasonOf(error: unknown): string {
  const [reason = "failed"] = error instanceof Error ? error.message.split(/[\n.]/) : [];
  return reason;
}
