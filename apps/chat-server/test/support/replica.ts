import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ChatModel } from "./model.ts";

const program = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** The header in which the tests' replicas are told who asks, as by a gateway. */
export const USER_HEADER = "x-test-user";

/** How to start a replica. */
export interface ReplicaOptions {
  readonly backend: "postgres" | "redis";
  /** Without one, it starts a database of its own. */
  readonly url?: string;
  /** Without one, it answers with its own stand-in. */
  readonly model?: ChatModel;
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A process of the app. */
export interface Replica {
  readonly process: ChildProcess;
  /** Where it answers. */
  readonly url: string;
  /** What it told people. */
  readonly told: () => string;
  /** Its log, an object for each line. */
  readonly log: () => Record<string, unknown>[];
  readonly logText: () => string;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
}

/** Starts a replica and waits until it answers. Whoever starts it ends it. */
export async function startReplica({ backend, url, model, args = [], environment }: ReplicaOptions): Promise<Replica> {
  const child = spawn(
    process.execPath,
    [program, "--backend", backend, "--port", "0", ...(url === undefined ? [] : ["--url", url]), ...args],
    { env: { ...cleanEnvironment(), CHAT_USER_HEADER: USER_HEADER, ...model?.environment, ...environment } },
  );
  let output = "";
  let told = "";
  child.stdout.on("data", (piece: Buffer) => {
    output += piece.toString("utf8");
  });
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
  const address = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (piece: Buffer) => {
      told += piece.toString("utf8");
      const found = /^Chat server on (\S+),/m.exec(told)?.[1];
      if (found !== undefined) {
        resolve(found);
      }
    });
    void ended.then(({ code }) => reject(new Error(`the replica ended with ${code}: ${told}`)));
  });
  return {
    process: child,
    url: address,
    told: () => told,
    logText: () => output,
    log: () =>
      output
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    ended,
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Runs the program to its end, for command lines that start nothing. */
export async function runProgram(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string; told: string }> {
  const child = spawn(process.execPath, [program, ...args], { env: { ...cleanEnvironment(), ...environment } });
  let output = "";
  let told = "";
  child.stdout.on("data", (piece: Buffer) => {
    output += piece.toString("utf8");
  });
  child.stderr.on("data", (piece: Buffer) => {
    told += piece.toString("utf8");
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, output, told };
}

/** Without what would choose a database, a model or who may sign in. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(OPENAI_|CHAT_|npm_config_|DATABASE_URL$|REDIS_URL$)/i.test(name),
  );
  return Object.fromEntries(entries);
}
