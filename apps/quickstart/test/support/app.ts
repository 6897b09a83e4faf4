import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const program = fileURLToPath(new URL("../../dist/main.js", import.meta.url));

/** What a process of the app came to. */
export interface Outcome {
  readonly code: number | null;
  readonly output: string;
  readonly errorOutput: string;
}

/** How to run the app. */
export interface AppOptions {
  readonly input?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A process of the app that is still running. */
export interface RunningApp {
  readonly process: ChildProcess;
  readonly ended: Promise<Outcome>;
  write(text: string): void;
  /** Resolves when the output so far holds the text. */
  says(text: string): Promise<void>;
}

/** Runs the app to its end. */
export function runApp(args: readonly string[], { input = "", environment }: AppOptions = {}): Promise<Outcome> {
  const app = startApp(args, environment);
  app.process.stdin?.end(input);
  return app.ended;
}

/** Starts the app; its input stays open. */
export function startApp(args: readonly string[], environment: Readonly<Record<string, string>> = {}): RunningApp {
  const child = spawn(process.execPath, [program, ...args], { env: { ...cleanEnvironment(), ...environment } });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  let errorOutput = "";
  const waiting = new Set<() => void>();
  child.stdout.on("data", (piece: Buffer) => {
    output += piece.toString("utf8");
    for (const check of waiting) {
      check();
    }
  });
  child.stderr.on("data", (piece: Buffer) => {
    errorOutput += piece.toString("utf8");
  });
  const ended = new Promise<Outcome>((resolve) => {
    child.on("close", (code) => resolve({ code, output, errorOutput }));
  });
  return {
    process: child,
    ended,
    write: (text) => child.stdin.write(text),
    says: (text) =>
      new Promise((resolve) => {
        const check = () => {
          if (output.includes(text)) {
            waiting.delete(check);
            resolve();
          }
        };
        waiting.add(check);
        check();
      }),
  };
}

/** A folder that is gone after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "agentfw-quickstart-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Without what would choose a model or look like options that npm took. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(AZURE_STORAGE_|FOUNDRY_|OPENAI_|npm_config_)/i.test(name),
  );
  return Object.fromEntries(entries);
}
