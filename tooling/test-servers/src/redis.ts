import { findServerBinary, type ServerBinary } from "./server-binary.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

/** One Redis server without persistence, on the loopback interface. */
export interface RedisServer extends ServerProcess {
  readonly port: number;
  /** With credentials, where it asks for some. */
  readonly url: string;
}

/** Options of {@link startRedis}. */
export interface RedisServerOptions {
  /** The password of the default user. Without it nobody is asked for one. */
  readonly password?: string | undefined;
  /** Further arguments of redis-server, for example `["--maxmemory", "10mb"]`. */
  readonly args?: readonly string[] | undefined;
}

/** Starts one Redis server on a free port. */
export async function startRedis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const { password, args = [] } = options;
  const server = await startServerProcess({
    name: "redis",
    binary: await redisBinary(),
    readyText: "Ready to accept connections",
    arguments: ([port = 0], directory) => [
      ...baseArguments(port, directory),
      ...(password === undefined ? [] : ["--requirepass", password]),
      ...args,
    ],
  });
  const port = server.ports[0] ?? 0;
  const credentials = password === undefined ? "" : `default:${encodeURIComponent(password)}@`;
  return { ...server, port, url: `redis://${credentials}127.0.0.1:${port}` };
}

/** The redis-server of this machine. */
export function redisBinary(): Promise<ServerBinary> {
  return findServerBinary({
    program: "redis-server",
    debianPackage: "redis-server",
    debianPath: "usr/bin/redis-server",
    advice: "install Redis 7 or later (brew install redis), or set REDIS_URL, REDIS_SECURED_URL and REDIS_CLUSTER_URLS",
  });
}

/** What every server of ours is started with: loopback only, nothing on disk. */
export function baseArguments(port: number, directory: string): string[] {
  const settings = { port, bind: "127.0.0.1", dir: directory, save: "", appendonly: "no", daemonize: "no" };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
}
