import { randomUUID } from "node:crypto";
import type { HistoryStore } from "@agentfw/core";
import { FoundryHistoryStore, FoundryStateStore } from "@agentfw/foundry-state-store";
import { startEmulator } from "@agentfw/foundry-state-store/emulator";
import { type FaultProxy, startFaultProxy } from "@agentfw/test-servers";
import { inject, onTestFinished } from "vitest";
import { behindPort, openPlace, type Place, serverOf } from "../soak/places.ts";

/** A store that reaches its server through connections which can be broken. */
export interface Reached {
  readonly store: HistoryStore;
  readonly proxy: FaultProxy;
}

const TIMEOUT_MS = 60_000;

/** Every backend with a server. A further one is a further entry. */
export const NETWORKS: Readonly<Record<string, () => Promise<Reached>>> = {
  redis: () => reach("redis", inject("redisUrl")),
  postgres: () => reach("postgres", inject("postgresUrl")),
  blob: () => reach("blob", inject("storageConnectionString")),
  async foundry() {
    const emulator = await startEmulator();
    onTestFinished(() => emulator.close());
    const proxy = await proxyTo({ host: "127.0.0.1", port: emulator.port });
    const endpoint = emulator.endpoint.replace(String(emulator.port), String(proxy.port));
    const state = await FoundryStateStore.getOrCreate("s", { endpoint, itemTtlSeconds: -1, timeoutMs: TIMEOUT_MS });
    return { proxy, store: new FoundryHistoryStore(state, { timeoutMs: TIMEOUT_MS }) };
  },
};

async function reach(backend: Place["backend"], address: string): Promise<Reached> {
  const place: Place = { backend, address, name: `endurance-${randomUUID()}` };
  const proxy = await proxyTo(serverOf(place) ?? { host: "", port: 0 });
  const store = openPlace(behindPort(place, proxy.port), TIMEOUT_MS);
  onTestFinished(() => store.close?.());
  return { proxy, store };
}

async function proxyTo(server: { readonly host: string; readonly port: number }): Promise<FaultProxy> {
  const proxy = await startFaultProxy(server);
  onTestFinished(() => proxy.close());
  return proxy;
}
