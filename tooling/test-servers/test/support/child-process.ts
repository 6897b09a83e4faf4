import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** What the child tells about the server that it started. */
export interface ChildServer {
  readonly pid: number;
  readonly port: number;
  readonly directory: string;
}

/** A process that started a server. */
export interface StarterProcess {
  readonly server: ChildServer;
  /** Gives the exit code; `null` after a signal. */
  readonly ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

/** Starts a process that starts a server. It is bundled first: the oldest supported Node runs no TypeScript. */
export async function startChild(
  mode: "wait" | "end" | "stop",
  kind: "redis" | "postgres" = "redis",
): Promise<StarterProcess> {
  const program = await bundle();
  const child = spawn(process.execPath, [program, mode, kind], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  child.stdout.setEncoding("utf8");
  const server = await new Promise<ChildServer>((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (more: string) => {
      text += more;
      if (text.includes("\n")) {
        resolve(JSON.parse(text));
      }
    });
    void ended.then(() => reject(new Error("the child ended before it told about a server")));
  });
  return { server, ended, kill: (signal) => child.kill(signal) };
}

async function bundle(): Promise<string> {
  const esbuild = createRequire(new URL("../../../../package.json", import.meta.url))("esbuild");
  // Inside of the checkout, where the server's program is looked for.
  const folder = await mkdtemp(fileURLToPath(new URL("../../.reports-child-", import.meta.url)));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const outfile = join(folder, "child.mjs");
  await esbuild.build({
    entryPoints: [fileURLToPath(new URL("child.ts", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    logLevel: "warning",
  });
  return outfile;
}
