export { type FaultProxy, faultHooks, type ProxyTarget, startFaultProxy } from "@agentfw/provider-testing/faults";
export {
  type AzuriteOptions,
  type AzuriteServer,
  azuriteConnectionString,
  emulatorConnectionString,
  startAzurite,
} from "./azurite.ts";
export { type PgBouncer, type PgBouncerOptions, startPgBouncer } from "./pgbouncer.ts";
export { type PostgresServer, type PostgresServerOptions, startPostgres } from "./postgres.ts";
export { type RedisServer, type RedisServerOptions, startRedis } from "./redis.ts";
export { type RedisCluster, startRedisCluster } from "./redis-cluster.ts";
export { type RedisSentinel, startRedisSentinel } from "./redis-sentinel.ts";
export type { ServerProcess } from "./server-process.ts";
