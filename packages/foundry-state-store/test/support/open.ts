import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StateStore } from "@agentfw/core";
import type { OpenedStateStore, OpenOptions } from "@agentfw/provider-testing";
import { faultHooks, startFaultProxy } from "@agentfw/test-servers";
import { createDefaultHttpClient } from "@azure/core-rest-pipeline";
import { startEmulator } from "../../src/emulator.ts";
import { FoundryStateStore, type FoundryStateStoreOptions, LocalStateStore } from "../../src/index.ts";

const NAME = "contract";

/** Patient unless a clause is about time: a busy disk takes long over a hundred writes at once. */
function storeOptions({ ttlSeconds, timeoutMs = 60_000, ...rest }: OpenOptions): FoundryStateStoreOptions {
  return {
    ...rest,
    // -1 is the service's word for never, so what the kit asks of negative lives is asked of another one.
    itemTtlSeconds: ttlSeconds === -1 ? -2 : (ttlSeconds ?? -1),
    timeoutMs,
  };
}

/** Opens a client on an emulator, through a proxy that can be broken. */
export async function openOnEmulator(given: OpenOptions = {}, isolation = false): Promise<OpenedStateStore> {
  const emulator = await startEmulator();
  const proxy = await startFaultProxy({ host: "127.0.0.1", port: emulator.port });
  const options = {
    ...storeOptions(given),
    endpoint: `http://127.0.0.1:${proxy.port}/api/projects/local`,
    userIsolation: isolation,
  };
  const close = async () => {
    await proxy.close();
    await emulator.close();
  };
  const users = new Map<string, number>();
  const asOwner = async (owner: string | null): Promise<StateStore> => {
    const name = JSON.stringify(owner);
    const number = users.get(name) ?? users.size;
    users.set(name, number);
    // Every request has a call id of its own; what they share is the user.
    const callId = `call-${number}-${Math.random()}`;
    emulator.setUser(callId, name);
    return (await open()).withCallId(callId);
  };
  const open = () => FoundryStateStore.getOrCreate(NAME, options);
  const client = createDefaultHttpClient();
  try {
    const store = isolation ? await asOwner(null) : await open();
    return {
      store,
      close,
      advanceTime: (milliseconds) => emulator.advanceTime(milliseconds),
      another: () => (isolation ? asOwner(null) : open()),
      ...faultHooks(proxy, { protocol: "http" }),
      sharedClient: async () => {
        const openShared = () =>
          FoundryStateStore.getOrCreate(`${NAME}-shared`, { ...options, userIsolation: false, httpClient: client });
        return { store: await openShared(), isClientOpen: async () => (await openShared()).name === `${NAME}-shared` };
      },
      ...(isolation ? { asOwner } : {}),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens a store in files. */
export async function openLocal(given: OpenOptions = {}): Promise<OpenedStateStore> {
  const directory = await mkdtemp(join(tmpdir(), "agentfw-local-"));
  let ahead = 0;
  const options = { ...storeOptions(given), directory, now: () => Date.now() + ahead };
  const close = () => rm(directory, { recursive: true, force: true });
  try {
    return {
      store: await LocalStateStore.getOrCreate(NAME, options),
      close,
      advanceTime: (milliseconds) => {
        ahead += milliseconds;
      },
      another: () => LocalStateStore.getOrCreate(NAME, options),
    };
  } catch (error) {
    await close();
    throw error;
  }
}
