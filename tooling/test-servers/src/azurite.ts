import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { toolsFolder } from "./checkout.ts";
import { withFileLock } from "./file-lock.ts";
import { runCommand } from "./run-command.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

/** An emulator of Azure Blob Storage, in memory, on the loopback interface. */
export interface AzuriteServer extends ServerProcess {
  readonly port: number;
  /** With the emulator's one account and its key, which everybody knows. */
  readonly connectionString: string;
}

const ACCOUNT = "devstoreaccount1";
/** The same in every emulator; it opens nothing else. */
const KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/** How Azurite is started. */
export interface AzuriteOptions {
  /** Serve HTTPS with this certificate, and take the tokens of an identity besides the key. Their signatures are not checked. */
  readonly tls?: { readonly certificatePath: string; readonly keyPath: string } | undefined;
}

/** Starts the blob service of Azurite on a free port. */
export async function startAzurite({ tls }: AzuriteOptions = {}): Promise<AzuriteServer> {
  const program = await findAzurite();
  const server = await startServerProcess({
    name: "azurite",
    binary: { path: process.execPath, env: process.env },
    readyText: "successfully listens",
    arguments: ([port = 0]) => [
      program,
      ...["--blobHost", "127.0.0.1", "--blobPort", String(port)],
      // A client's API version may be newer than the emulator; what we use of it is the same.
      ...["--inMemoryPersistence", "--silent", "--disableTelemetry", "--skipApiVersionCheck"],
      ...(tls === undefined ? [] : ["--cert", tls.certificatePath, "--key", tls.keyPath, "--oauth", "basic"]),
    ],
  });
  const port = server.ports[0] ?? 0;
  return { ...server, port, connectionString: azuriteConnectionString(port, tls === undefined ? "http" : "https") };
}

/** How a client reaches an emulator, or a proxy in front of one, on a port of this machine. */
export function azuriteConnectionString(port: number, protocol: "http" | "https" = "http"): string {
  const endpoint = `${protocol}://127.0.0.1:${port}/${ACCOUNT}`;
  return `DefaultEndpointsProtocol=${protocol};AccountName=${ACCOUNT};AccountKey=${KEY};BlobEndpoint=${endpoint};`;
}

/** Where an emulator listens that somebody started without saying where. */
const USUAL_PORT = 10_000;

/**
 * The connection string of somebody's emulator with all its parts, so that a proxy can stand in front of it. Undefined for
 * undefined.
 *
 * @throws for an account that is not reached over HTTP: clients sign what they ask for, and its host with it.
 */
export function emulatorConnectionString(given: string | undefined): string | undefined {
  if (given === undefined) {
    return undefined;
  }
  if (/^\s*UseDevelopmentStorage\s*=\s*true\s*;?\s*$/i.test(given)) {
    return azuriteConnectionString(USUAL_PORT);
  }
  if (!/(?:^|;)\s*BlobEndpoint=http:/i.test(given)) {
    throw new Error("AZURE_STORAGE_CONNECTION_STRING must name an emulator, with its BlobEndpoint, over http");
  }
  return given;
}

/**
 * The program, which is fetched into the checkout's `.tools` when it is not there: 190 MB that nobody should have to wait
 * for who has no use for it. What is fetched stands in a lockfile of its own.
 */
async function findAzurite(): Promise<string> {
  const recipe = join(dirname(toolsFolder()), "tooling", "test-servers", "azurite");
  const lockfile = await readFile(join(recipe, "package-lock.json"));
  const folder = join(toolsFolder(), `azurite-${createHash("sha256").update(lockfile).digest("hex").slice(0, 12)}`);
  const program = join(folder, "node_modules", "azurite", "dist", "src", "blob", "main.js");
  if (!existsSync(program)) {
    await mkdir(dirname(folder), { recursive: true });
    await withFileLock(`${folder}.lock`, async () => {
      if (!existsSync(program)) {
        await fetch(recipe, folder);
      }
    });
  }
  return program;
}

/** Beside its place, and moved there when it is whole. */
async function fetch(recipe: string, folder: string): Promise<void> {
  process.stderr.write("test-servers: fetching Azurite from npm into .tools, which takes up to a minute, once\n");
  const unfinished = await mkdtemp(`${folder}.`);
  try {
    for (const name of ["package.json", "package-lock.json", ".npmrc"]) {
      await cp(join(recipe, name), join(unfinished, name));
    }
    const args = ["ci", "--prefix", unfinished, "--no-audit", "--no-fund", "--ignore-scripts"];
    const { code, output } = await npm(args, unfinished);
    if (code !== 0) {
      throw new Error(`Azurite could not be fetched with npm; AZURE_STORAGE_CONNECTION_STRING names one:\n${output}`);
    }
    await rename(unfinished, folder).catch((error: unknown) => {
      // Another process may have been quicker.
      if (!existsSync(folder)) {
        throw error;
      }
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

function npm(args: readonly string[], cwd: string): ReturnType<typeof runCommand> {
  // On Windows npm is a script, which only a shell can start.
  return process.platform === "win32"
    ? runCommand("cmd.exe", ["/c", "npm", ...args], { cwd })
    : runCommand("npm", args, { cwd });
}
