import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { findServerBinary, type ServerBinary } from "./server-binary.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { otherUser, type Program, startedAs } from "./unprivileged.ts";

/** One PostgreSQL server with a new, empty cluster of databases, on the loopback interface. */
export interface PostgresServer extends ServerProcess {
  readonly port: number;
  /** The superuser `postgres` in the database `postgres`. Nobody is asked for a password. */
  readonly url: string;
}

/** Options of {@link startPostgres}. */
export interface PostgresServerOptions {
  /** Further settings, for example `{ max_connections: "20" }`; with `{ fsync: "on" }` commits wait for the disk. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** Faster than a server that has to survive a crash: its data is gone with it anyway. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: "200",
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
};

/** Starts one PostgreSQL server on a free port, 15 or later, in a folder of its own. */
export async function startPostgres(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const { programs, env } = await postgresPrograms();
  const user = await otherUser();
  const settings = Object.entries({ ...SETTINGS, ...options.settings });
  const server = await startServerProcess({
    name: "postgres",
    binary: { path: "/bin/sh", env },
    stopSignal: "QUIT",
    readyText: "ready to accept connections",
    arguments: ([port = 0], directory) => {
      const data = join(directory, "data");
      const create: Program = {
        path: join(programs, "initdb"),
        args: ["-D", data, "-U", "postgres", "--auth=trust", "--no-sync", "--locale=C", "--encoding=UTF8"],
      };
      const run: Program = {
        path: join(programs, "postgres"),
        args: ["-D", data, "-p", String(port), ...settings.flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      };
      return startedAs(user, directory, [create, run]);
    },
  });
  const port = server.ports[0] ?? 0;
  return { ...server, port, url: `postgres://postgres@127.0.0.1:${port}/postgres` };
}

/** The folder with this machine's programs of PostgreSQL, the newest version that there is. */
async function postgresPrograms(): Promise<{ programs: string; env: NodeJS.ProcessEnv }> {
  const installed = (await newestIn("/usr/lib/postgresql")) ?? onPath();
  if (installed !== undefined) {
    return { programs: installed, env: process.env };
  }
  const { path, env } = await unpacked();
  const programs = await newestIn(path);
  if (programs === undefined) {
    throw new Error(`There is no PostgreSQL in ${path}: remove its folder in .tools and try again.`);
  }
  return { programs, env };
}

/** Debian keeps the servers of all versions apart, and none of them on PATH. */
function unpacked(): Promise<ServerBinary> {
  return findServerBinary({
    program: "postgres",
    debianPackage: "postgresql",
    debianPath: "usr/lib/postgresql",
    advice: "install PostgreSQL 15 or later (brew install postgresql), or set DATABASE_URL",
  });
}

async function newestIn(folder: string): Promise<string | undefined> {
  const versions = existsSync(folder) ? await readdir(folder) : [];
  return versions
    .filter((version) => existsSync(join(folder, version, "bin", "postgres")))
    .sort((left, right) => Number(right) - Number(left))
    .map((version) => join(folder, version, "bin"))[0];
}

function onPath(): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "initdb"))
    .filter((path) => existsSync(path) && existsSync(join(dirname(path), "postgres")))
    .map((path) => dirname(path))[0];
}
