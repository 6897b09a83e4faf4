import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { bearerTokens, isOwner, type SignIn, trustedHeader } from "./sign-in.ts";
import type { BackendName } from "./stores.ts";

/** The command line makes no sense. Ends the program with exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command line and the environment, checked. */
export interface Options {
  readonly help: boolean;
  readonly backend: BackendName;
  /** Where the database is; without it, one of our own is started. */
  readonly url: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly signIn: SignIn;
  /** A token that was made up for this process, because nobody said who may sign in. */
  readonly demoToken: string | undefined;
  readonly logLevel: string;
  readonly runTimeoutMs: number;
  readonly shutdownGraceMs: number;
  readonly leaseMs: number;
}

/** What `--help` shows. */
export const HELP = `A chat over HTTP whose replicas share nothing but a database.

  npm run pnpm -- --filter @agentfw/chat-server start -- OPTIONS

  --backend NAME           postgres or redis. Default: postgres.
  --url URL                Where it is; or in DATABASE_URL, REDIS_URL. Without: a temporary one.
  --host HOST              Default: 127.0.0.1.
  --port PORT              0 for any free one. Default: 3000.
  --run-timeout-ms MS      Longest time for an answer. Default: 120000.
  --shutdown-grace-ms MS   How long answers may go on after SIGTERM. Default: 25000.
  --lease-ms MS            How long a chat waits for a replica that died while it answered. Default: 10000.
                           0: replicas do not wait for each other.
  --log-level LEVEL        trace, debug, info, warn, error, fatal or silent. Default: info.
  --help                   Show this.

Environment
  CHAT_TOKENS              Who may sign in: {"<token>":"<owner>"}, as JSON. Without: a token for this process.
  CHAT_USER_HEADER         Instead: the header in which your gateway says who it is.
  OPENAI_API_KEY           Use a real model; OPENAI_BASE_URL and OPENAI_MODEL say which.`;

/** @throws UsageError */
export function parseOptions(args: readonly string[], environment: NodeJS.ProcessEnv = process.env): Options {
  const values = parsed(args);
  const { backend = "postgres" } = values;
  if (backend !== "postgres" && backend !== "redis") {
    throw new UsageError("--backend must be postgres or redis");
  }
  const logLevel = values["log-level"] ?? "info";
  if (!["trace", "debug", "info", "warn", "error", "fatal", "silent"].includes(logLevel)) {
    throw new UsageError("--log-level must be trace, debug, info, warn, error, fatal or silent");
  }
  return {
    help: values.help ?? false,
    backend,
    url: values.url ?? environment[backend === "postgres" ? "DATABASE_URL" : "REDIS_URL"],
    host: values.host ?? "127.0.0.1",
    port: wholeNumber("port", values.port ?? "3000", 65_535),
    runTimeoutMs: wholeNumber("run-timeout-ms", values["run-timeout-ms"] ?? "120000", 3_600_000),
    shutdownGraceMs: wholeNumber("shutdown-grace-ms", values["shutdown-grace-ms"] ?? "25000", 3_600_000),
    leaseMs: wholeNumber("lease-ms", values["lease-ms"] ?? "10000", 3_600_000),
    logLevel,
    ...signInOf(environment),
  };
}

function parsed(args: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    // pnpm hands on the two dashes that divide its own options from ours.
    return parseArgs({
      args: args[0] === "--" ? args.slice(1) : [...args],
      options: {
        backend: text,
        url: text,
        host: text,
        port: text,
        "run-timeout-ms": text,
        "shutdown-grace-ms": text,
        "lease-ms": text,
        "log-level": text,
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? (error.message.split(/[\n.]/)[0] ?? "") : "unknown option");
  }
}

function wholeNumber(name: string, text: string, maximum: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > maximum) {
    throw new UsageError(`--${name} must be a whole number of at most ${maximum}`);
  }
  return number;
}

function signInOf(environment: NodeJS.ProcessEnv): Pick<Options, "signIn" | "demoToken"> {
  const { CHAT_TOKENS: tokens, CHAT_USER_HEADER: header } = environment;
  if (tokens && header) {
    throw new UsageError("CHAT_TOKENS and CHAT_USER_HEADER do not go together");
  }
  if (header) {
    return { signIn: trustedHeader(header), demoToken: undefined };
  }
  if (tokens) {
    return { signIn: bearerTokens(tokensOf(tokens)), demoToken: undefined };
  }
  const demoToken = randomBytes(16).toString("hex");
  return { signIn: bearerTokens(new Map([[demoToken, "demo"]])), demoToken };
}

function tokensOf(text: string): Map<string, string> {
  const rule = 'CHAT_TOKENS must be JSON: {"<token>":"<owner>"}, with owners of letters, digits and _.@|:-';
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // What it says would quote a token.
    throw new UsageError(rule);
  }
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const owners = new Map<string, string>();
  for (const [token, owner] of entries) {
    if (token === "" || typeof owner !== "string" || !isOwner(owner)) {
      throw new UsageError(rule);
    }
    owners.set(token, owner);
  }
  if (owners.size === 0) {
    throw new UsageError(rule);
  }
  return owners;
}
