export { type AzuriteServer, azuriteConnectionString, startAzurite } from "./azurite.ts";
export { type FaultProxy, type ProxyTarget, startFaultProxy } from "./fault-proxy.ts";
export { type PgBouncer, type PgBouncerOptions, startPgBouncer } from "./pgbouncer.ts";
export { type PostgresServer, type PostgresServerOptions, startPostgres } from "./postgres.ts";
export { type RedisServer, type RedisServerOptions, startRedis } from "./redis.ts";
export { type RedisCluster, startRedisCluster } from "./redis-cluster.ts";
export { type RedisSentinel, startRedisSentinel } from "./redis-sentinel.ts";
export type { ServerProcess } from "./server-process.ts";
