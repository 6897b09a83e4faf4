import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BenchmarkError } from "./errors.ts";
import { HOME } from "./folders.ts";
import { isPeer, type Peer } from "./peer.ts";

const FOLDER = join(HOME, "peers");
const MARKER = join(FOLDER, "node_modules", ".lockfile-hash");

/**
 * Loads the peers, after installing them into their own folder if that has not been done since their lockfile changed.
 *
 * @throws BenchmarkError when they cannot be installed or loaded.
 */
export async function loadPeers(say: (line: string) => void): Promise<Peer[]> {
  const hash = createHash("sha256")
    .update(await readFile(join(FOLDER, "package-lock.json")))
    .digest("hex");
  if ((await readFile(MARKER, "utf8").catch(() => "")) !== hash) {
    say("Installing the peers into tooling/benchmarks/peers (a minute or two; nothing else uses them) …");
    await npm(["ci", "--no-audit", "--no-fund"]);
    await writeFile(MARKER, hash);
  }
  return peersOf(await import(/* @vite-ignore */ pathToFileURL(join(FOLDER, "index.mjs")).href));
}

/** The peers that a module exports as `peers`. @throws BenchmarkError */
export function peersOf(module: unknown): Peer[] {
  const peers: unknown = typeof module === "object" && module !== null && "peers" in module ? module.peers : undefined;
  if (!Array.isArray(peers) || !peers.every(isPeer)) {
    throw new BenchmarkError("the module of the peers does not export a list of peers");
  }
  return peers;
}

function npm(args: readonly string[]): Promise<void> {
  // On Windows npm is a script, which only a shell can start.
  const child = spawn("npm", args, {
    cwd: FOLDER,
    stdio: ["ignore", "pipe", "pipe"],
    shell: process.platform === "win32",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
  }
  return new Promise((resolve, reject) => {
    child.on("error", (cause) => reject(new BenchmarkError("npm could not be started", { cause })));
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(new BenchmarkError(`The peers could not be installed:\n${output.trim()}`)),
    );
  });
}
