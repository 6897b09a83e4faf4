import { join } from "node:path";
import { findServerBinary } from "./server-binary.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";
import { otherUser, startedAs } from "./unprivileged.ts";

/** PgBouncer in transaction mode in front of a PostgreSQL server, on the loopback interface. */
export interface PgBouncer extends ServerProcess {
  readonly port: number;
  /** The target's URL with PgBouncer's address in it. */
  readonly url: string;
}

/** Options of {@link startPgBouncer}. */
export interface PgBouncerOptions {
  /** Connections to the server for each user and database. Fewer than clients, so that clients change theirs. @default 5 */
  readonly poolSize?: number | undefined;
  /** Further settings, for example `{ max_prepared_statements: "100" }` with PgBouncer 1.21 or later. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
}

/** Starts PgBouncer for any database and user of the server at `targetUrl`, in transaction mode. */
export async function startPgBouncer(targetUrl: string, options: PgBouncerOptions = {}): Promise<PgBouncer> {
  const binary = await findServerBinary({
    program: "pgbouncer",
    debianPackage: "pgbouncer",
    debianPath: "usr/sbin/pgbouncer",
    advice: "install PgBouncer (brew install pgbouncer)",
  });
  const user = await otherUser();
  const server = await startServerProcess({
    name: "pgbouncer",
    binary: { path: "/bin/sh", env: binary.env },
    readyText: "process up",
    arguments: ([port = 0], directory) => {
      const file = join(directory, "pgbouncer.ini");
      const write = `printf %s "$0" > "$1"`;
      return startedAs(user, directory, [
        { path: "/bin/sh", args: ["-c", write, configuration(new URL(targetUrl), port, options), file] },
        { path: binary.path, args: [file] },
      ]);
    },
  });
  const port = server.ports[0] ?? 0;
  const url = new URL(targetUrl);
  url.host = `127.0.0.1:${port}`;
  return { ...server, port, url: url.href };
}

function configuration(target: URL, port: number, { poolSize = 5, settings = {} }: PgBouncerOptions): string {
  const user = quoted(target.username || "postgres");
  const password = target.password === "" ? "" : ` password=${quoted(target.password)}`;
  const lines = Object.entries({
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    auth_type: "any",
    pool_mode: "transaction",
    default_pool_size: String(poolSize),
    max_client_conn: "500",
    // What PostgreSQL's drivers send when they connect, and what a pooler cannot keep for each client.
    ignore_startup_parameters: "extra_float_digits,options",
    ...settings,
  }).map(([name, value]) => `${name} = ${value}`);
  const server = `* = host=${target.hostname} port=${target.port || "5432"} user=${user}${password}`;
  return ["[databases]", server, "[pgbouncer]", ...lines, ""].join("\n");
}

/** A part of the URL as a value in the configuration, whatever characters it holds. */
function quoted(part: string): string {
  return `'${decodeURIComponent(part).replaceAll("'", "''")}'`;
}
