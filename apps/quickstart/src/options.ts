import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type BackendName, backendNames, isBackendName, staysWithoutUrl, takesUrl } from "./backends/index.ts";
import { UsageError } from "./errors.ts";
import { shellQuoted, withoutPassword } from "./terminal.ts";

/** What the program is to do. */
export type Mode = "demo" | "chat" | "say" | "transcripts" | "sql" | "verify" | "help";

/** The command line, checked. */
export interface Options {
  readonly mode: Mode;
  readonly backend: BackendName;
  /** The folder for everything that is stored on this machine. */
  readonly data: string;
  /** Which of the model service's APIs is spoken. */
  readonly api: ApiName;
  /** Where the backend's server is. */
  readonly url: string | undefined;
  readonly session: string;
  readonly owner: string;
  /** Whether the agent keeps files of its own, for its owner and over all sessions. */
  readonly memory: boolean;
  /** With `--say`: the message. */
  readonly text: string;
  /** With `--sql`: the statement. */
  readonly sql: string;
  /** Where the serialized session is read from and written to. */
  readonly sessionFile: string | undefined;
  /** With `--transcripts`: the file with the recordings. */
  readonly transcripts: string;
  /** With `--transcripts`: the name under which the replay is stored. */
  readonly replay: string;
  /** With `--transcripts`: compare what an earlier replay stored, and replay nothing. */
  readonly check: boolean;
}

/** The APIs that a model is asked through. */
export type ApiName = "chat" | "responses";

/** The conversation that is gone on with when none is named. */
export const DEFAULT_SESSION = "demo";

const DEFAULTS = { backend: "file", api: "chat", session: DEFAULT_SESSION, owner: "local-user" } as const;

/** The folder that is used without `--data`: the app's own, which git ignores. */
export const DEFAULT_DATA: string = fileURLToPath(new URL("../.data", import.meta.url));

const HELP = [
  ["chat", "", "Talk to the agent; every line is a turn. Works with a pipe, too."],
  ["say", "TEXT", "One turn, then the process ends. The demonstration is two of these."],
  ["transcripts", "FILE", "Replay recorded conversations and compare what was stored with the recording."],
  ["sql", "STATEMENT", "With --backend postgres in a folder: print what the statement gives, a line for each row."],
  ["backend", "NAME", `Where the history is kept: ${listed("disjunction")}. Default: ${DEFAULTS.backend}.`],
  [
    "url",
    "URL",
    "With --backend blob, foundry, postgres or redis: where it is. Without it, a folder, or a temporary server.",
  ],
  ["api", "NAME", "With a key: how the model is asked, through chat (Chat Completions) or responses. Default: chat."],
  ["data", "DIR", "The folder for what is stored on this machine. Default: apps/quickstart/.data."],
  ["session", "ID", `Which conversation to go on with. Default: ${DEFAULTS.session}.`],
  ["owner", "NAME", `Whose conversation it is. Default: ${DEFAULTS.owner}.`],
  ["memory", "", "Give the agent a file memory of its own, shared by all sessions of the owner."],
  ["new", "", "Begin a conversation with a fresh session id."],
  ["session-file", "FILE", "With --say and --chat: take the session from this file, if there, and write it back."],
  ["replay", "NAME", "With --transcripts: the name under which the replay is stored. Default: the time."],
  ["check", "", "With --transcripts and --replay: only compare what that replay stored."],
  ["help", "", "Show this."],
] as const;

type Values = Readonly<Record<string, string | boolean | undefined>>;

/** What `--help` shows. */
export function helpText(): string {
  const rows = HELP.map(([name, value, text]) => `  ${`--${name} ${value}`.padEnd(20)} ${text}`);
  return `An agent that remembers across a restart.

  npm run quickstart                  the demonstration: two turns in two processes, one conversation
  npm run quickstart -- OPTIONS

${rows.join("\n")}

Environment
  AZURE_STORAGE_CONNECTION_STRING
                       With --backend blob and no --url: the storage account. Without both, a temporary server.
  OPENAI_API_KEY       Use a real model. Without it, an offline stand-in answers that is not a model.
  OPENAI_BASE_URL      A compatible server. Default: OpenAI's own.
  OPENAI_MODEL         Default: gpt-4o-mini.
  FOUNDRY_PROJECT_ENDPOINT, FOUNDRY_ACCESS_TOKEN
                       With --backend foundry: where the service is, and a token for it. Without, an emulator.

Exit codes: 0 it went well, 1 something failed or differs, 2 the command line makes no sense.`;
}

/** Parses the command line. @throws UsageError */
export function parseOptions(args: readonly string[], environment: NodeJS.ProcessEnv = process.env): Options {
  if (args.length === 1 && args[0] === "--verify-transcript") {
    return checked({ verify: true });
  }
  assertNpmPassedOptions(args, environment);
  const values = parsed(args);
  for (const [name, value] of Object.entries(values)) {
    if (value === "") {
      throw new UsageError(`--${name} must not be empty`);
    }
  }
  assertTogether(values);
  return checked(values);
}

function parsed(args: readonly string[]): Values {
  const options = Object.fromEntries(
    HELP.map(([name, value]) => [name, { type: value === "" ? ("boolean" as const) : ("string" as const) }]),
  );
  try {
    return parseArgs({ args: [...args], options: { ...options, h: { type: "boolean" } }, strict: true }).values;
  } catch (error) {
    const [reason = "the command line makes no sense"] = error instanceof Error ? error.message.split(/[\n.]/) : [];
    throw new UsageError(reason);
  }
}

/** `npm run quickstart --chat` gives the option to npm, which drops it; the demonstration would run instead. */
function assertNpmPassedOptions(args: readonly string[], environment: NodeJS.ProcessEnv): void {
  for (const [name] of HELP) {
    const taken = environment[`npm_config_${name.replaceAll("-", "_")}`];
    if (
      args.length === 0 &&
      taken !== undefined &&
      ["chat", "say", "transcripts", "new", "backend", "memory"].includes(name)
    ) {
      throw new UsageError(
        `npm kept --${name} for itself; write two dashes before it: npm run quickstart -- --${name}`,
      );
    }
  }
}

function assertTogether(values: Values): void {
  const modes = ["chat", "say", "transcripts", "sql"].filter((name) => values[name] !== undefined);
  if (modes.length > 1) {
    throw new UsageError(`--${modes[0]} and --${modes[1]} do not go together`);
  }
  const [mode = "the demonstration"] = modes;
  const refuse = (name: string, allowed: readonly string[]) => {
    if (values[name] !== undefined && !allowed.includes(mode)) {
      throw new UsageError(`--${name} does not go with ${modes.length === 0 ? mode : `--${mode}`}`);
    }
  };
  refuse("replay", ["transcripts"]);
  refuse("check", ["transcripts"]);
  refuse("session-file", ["say", "chat"]);
  refuse("session", ["the demonstration", "say", "chat"]);
  refuse("new", ["the demonstration", "say", "chat"]);
  refuse("memory", ["the demonstration", "say", "chat"]);
  refuse("owner", ["the demonstration", "say", "chat", "transcripts"]);
  refuse("api", ["the demonstration", "say", "chat"]);
  if (values["new"] && values["session"] !== undefined) {
    throw new UsageError("--new makes a session id of its own and does not go with --session");
  }
  if (values["check"] && values["replay"] === undefined) {
    throw new UsageError("--check needs the name of the replay that is to be compared: --replay NAME");
  }
}

function checked(values: Values): Options {
  const text = (name: string) => {
    const value = values[name];
    return typeof value === "string" ? value : undefined;
  };
  const backend = text("backend") ?? DEFAULTS.backend;
  if (!isBackendName(backend)) {
    throw new UsageError(`there is no backend named ${backend}; there are ${listed("conjunction")}`);
  }
  const api = text("api") ?? DEFAULTS.api;
  if (api !== "chat" && api !== "responses") {
    throw new UsageError(`there is no API named ${api}; there are chat and responses`);
  }
  const url = text("url");
  if (url !== undefined && !takesUrl(backend)) {
    throw new UsageError(`--url does not go with --backend ${backend}, which has no server`);
  }
  if (values["sql"] !== undefined && (backend !== "postgres" || url !== undefined)) {
    throw new UsageError("--sql goes with --backend postgres without --url; psql asks a server");
  }
  if (values["check"] && takesUrl(backend) && url === undefined && !staysWithoutUrl(backend)) {
    throw new UsageError("--check finds nothing on a server that it has to start; --url says where the replay is");
  }
  return {
    mode: modeOf(values),
    backend,
    api,
    data: text("data") ?? DEFAULT_DATA,
    url,
    session: text("session") ?? (values["new"] ? `demo-${randomUUID().slice(0, 8)}` : DEFAULTS.session),
    owner: text("owner") ?? DEFAULTS.owner,
    memory: values["memory"] === true,
    text: text("say") ?? "",
    sql: text("sql") ?? "",
    sessionFile: text("session-file"),
    transcripts: text("transcripts") ?? "",
    replay: text("replay") ?? timeName(),
    check: values["check"] === true,
  };
}

function modeOf(values: Values): Mode {
  if (values["help"] || values["h"]) {
    return "help";
  }
  const modes = ["verify", "chat", "say", "transcripts", "sql"] as const;
  return modes.find((name) => values[name] !== undefined) ?? "demo";
}

/** A name that sorts by time and that no other process gives. */
function timeName(): string {
  const digits = new Date().toISOString().replace(/[^0-9]/g, "");
  return `${digits.slice(0, 8)}-${digits.slice(8, 14)}-${process.pid}`;
}

/** The options that lead to this conversation, for a command that goes on with it. */
export function optionsFor({ backend, api, data, url, session, owner, memory }: Options): string[] {
  const entries = [
    ["backend", backend, DEFAULTS.backend],
    ["api", api, DEFAULTS.api],
    ["url", url, undefined],
    ["data", data, DEFAULT_DATA],
    ["session", session, DEFAULTS.session],
    ["owner", owner, DEFAULTS.owner],
  ] as const;
  const named = entries.flatMap(([name, value, usual]) => (value === usual ? [] : [`--${name}=${value}`]));
  return memory ? [...named, "--memory"] : named;
}

/** A command as a person types it, who knows the password that it leaves out. */
export function command(...args: readonly string[]): string {
  const shown = args.map((arg) => (arg.startsWith("--url=") ? `--url=${withoutPassword(arg.slice(6))}` : arg));
  return ["npm run quickstart", ...(args.length === 0 ? [] : ["--", ...shown.map(shellQuoted)])].join(" ");
}

/** The backends' names in a sentence. */
function listed(type: "conjunction" | "disjunction"): string {
  return new Intl.ListFormat("en-GB", { type }).format(backendNames());
}
