import type { Redis } from "ioredis";
import { onTestFinished } from "vitest";
import { pause } from "./redis.ts";

/** The commands that reached the server during `work`, those of scripts apart. */
export interface Monitored {
  /** Sent by clients: each was one round trip. */
  readonly sent: readonly (readonly string[])[];
  /** Called by scripts. */
  readonly byScripts: readonly (readonly string[])[];
}

/** Watches what is done to keys with this prefix, by MONITOR. */
export async function monitor(client: Redis, prefix: string, work: () => Promise<unknown>): Promise<Monitored> {
  const monitoring = await client.monitor();
  onTestFinished(() => monitoring.disconnect());
  const seen: { readonly args: string[]; readonly source: string }[] = [];
  let isOver = false;
  const marker = `${prefix}:monitor-end`;
  monitoring.on("monitor", (_time: string, args: string[], source: string) => {
    isOver ||= args.includes(marker);
    if (!isOver && args.some((arg) => arg.includes(prefix))) {
      seen.push({ args, source });
    }
  });
  await work();
  await client.exists(marker);
  while (!isOver) {
    await pause(5);
  }
  const of = (isScript: boolean) =>
    seen.filter(({ source }) => (source === "lua") === isScript).map(({ args }) => args);
  return { sent: of(false), byScripts: of(true) };
}
