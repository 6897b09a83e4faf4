import type {} from "vitest";
import type { TestProject } from "vitest/node";
import { emulatorConnectionString, startAzurite } from "./azurite.ts";
import { startPgBouncer } from "./pgbouncer.ts";
import { startPostgres } from "./postgres.ts";
import { startRedis } from "./redis.ts";
import { startRedisCluster } from "./redis-cluster.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** One Redis node without a password. */
    readonly redisUrl: string;
    /** One Redis node whose default user has a password; it may make other users. */
    readonly securedRedisUrl: string;
    /** One URL for each of the three masters of a Redis Cluster. */
    readonly redisClusterUrls: readonly string[];
    /** One PostgreSQL server; the URL's user may make databases and roles. */
    readonly postgresUrl: string;
    /** The same server behind PgBouncer in transaction mode. */
    readonly pgBouncerUrl: string;
    /** A storage account, usually Azurite's. */
    readonly storageConnectionString: string;
  }
}

/** What {@link testServers} can start. */
export type TestServerKind = "redis" | "securedRedis" | "redisCluster" | "postgres" | "pgBouncer" | "azurite";

/** What a file named by Vitest's `globalSetup` exports as `setup`: it starts servers, and its result stops them. */
export type ServerSetup = (project: TestProject) => Promise<() => Promise<void>>;

const STARTERS: Readonly<Record<TestServerKind, ServerSetup>> = {
  async redis(project) {
    const given = process.env["REDIS_URL"];
    const server = given === undefined ? await startRedis() : undefined;
    project.provide("redisUrl", given ?? server?.url ?? "");
    return stopOf(server);
  },
  async securedRedis(project) {
    const given = process.env["REDIS_SECURED_URL"];
    const server = given === undefined ? await startRedis({ password: "correct horse/battery@staple" }) : undefined;
    project.provide("securedRedisUrl", given ?? server?.url ?? "");
    return stopOf(server);
  },
  async redisCluster(project) {
    const given = process.env["REDIS_CLUSTER_URLS"]?.split(",").map((url) => url.trim());
    const server = given === undefined ? await startRedisCluster() : undefined;
    project.provide("redisClusterUrls", given ?? server?.urls ?? []);
    return stopOf(server);
  },
  async postgres(project) {
    const given = process.env["DATABASE_URL"];
    const server = given === undefined ? await startPostgres() : undefined;
    project.provide("postgresUrl", given ?? server?.url ?? "");
    return stopOf(server);
  },
  async pgBouncer(project) {
    const given = process.env["DATABASE_URL"];
    const server = given === undefined ? await startPostgres() : undefined;
    const url = given ?? server?.url ?? "";
    const pooler = await startPgBouncer(url).catch(async (error) => {
      await server?.stop();
      throw error;
    });
    project.provide("postgresUrl", url);
    project.provide("pgBouncerUrl", pooler.url);
    return async () => {
      await pooler.stop();
      await server?.stop();
    };
  },
  async azurite(project) {
    const given = emulatorConnectionString(process.env["AZURE_STORAGE_CONNECTION_STRING"]);
    const server = given === undefined ? await startAzurite() : undefined;
    project.provide("storageConnectionString", given ?? server?.connectionString ?? "");
    return stopOf(server);
  },
};

/**
 * A Vitest `globalSetup` that starts servers for one package's run, all at once, and stops them afterwards. Test files
 * get their addresses by `inject("redisUrl")` and share them, so each test keeps to key prefixes of its own.
 *
 * A server whose environment variable is set (`REDIS_URL`, `REDIS_SECURED_URL`, `REDIS_CLUSTER_URLS` with commas) is
 * used from there and not started. So is the PostgreSQL server of `DATABASE_URL`; `pgBouncer` starts itself in front of it.
 * So is the emulator of `AZURE_STORAGE_CONNECTION_STRING`, which tests put proxies in front of.
 */
export function testServers(...kinds: readonly TestServerKind[]): ServerSetup {
  return async (project) => {
    const started = await Promise.allSettled(kinds.map((kind) => STARTERS[kind](project)));
    const stop = async () => {
      await Promise.all(started.map((result) => (result.status === "fulfilled" ? result.value() : undefined)));
    };
    const failed = started.find((result) => result.status === "rejected");
    if (failed !== undefined) {
      await stop();
      throw failed.reason;
    }
    return stop;
  };
}

function stopOf(server: { stop(): Promise<void> } | undefined): () => Promise<void> {
  return async () => {
    await server?.stop();
  };
}
