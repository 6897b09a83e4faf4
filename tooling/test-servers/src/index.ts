export { type FaultProxy, type ProxyTarget, startFaultProxy } from "./fault-proxy.ts";
export { type RedisServer, type RedisServerOptions, startRedis } from "./redis.ts";
export { type RedisCluster, startRedisCluster } from "./redis-cluster.ts";
export type { ServerProcess } from "./server-process.ts";
