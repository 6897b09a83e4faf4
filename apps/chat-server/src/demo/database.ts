import type { BackendName } from "../stores.ts";

/** A database of our own, which ends with this process and keeps nothing. */
export async function startDemoDatabase(backend: BackendName): Promise<{ url: string; stop(): Promise<void> }> {
  const { startPostgres, startRedis } = await import("@agentfw/test-servers");
  return backend === "postgres" ? startPostgres() : startRedis();
}
