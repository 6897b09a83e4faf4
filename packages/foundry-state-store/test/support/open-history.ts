import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HistoryKey } from "@agentfw/core";
import type { OpenedHistoryStore, OpenOptions } from "@agentfw/provider-testing";
import { faultHooks, startFaultProxy } from "@agentfw/test-servers";
import { startEmulator } from "../../src/emulator.ts";
import { placeOf } from "../../src/history/names.ts";
import { FoundryHistoryStore, FoundryStateStore, LocalStateStore } from "../../src/index.ts";

const NAME = "conversations";

/** Makes one turn unreadable; the kit appends one record at a time. */
async function corrupt(store: FoundryStateStore, key: HistoryKey, position: number): Promise<void> {
  const tags = { conversation: placeOf(key).hash };
  for await (const found of store.iterateItemKeys({ tags })) {
    if (found.key.endsWith(`/${position + 1}`)) {
      await store.setItem(found.key, { v: 1, broken: true }, { tags: found.tags });
    }
  }
}

/** Hundreds of calls at once wait for each other, on a machine that may be busy. */
const PATIENT = { timeoutMs: 60_000 };

/** Opens conversations on an emulator, through a proxy that can be broken. */
export async function openHistoryOnEmulator(given: OpenOptions = {}, isolation = false): Promise<OpenedHistoryStore> {
  const emulator = await startEmulator({ users: { call: "ann" } });
  const proxy = await startFaultProxy({ host: "127.0.0.1", port: emulator.port });
  const endpoint = `http://127.0.0.1:${proxy.port}/api/projects/local`;
  const open = async () => {
    const options = { endpoint, itemTtlSeconds: -1, userIsolation: isolation, ...PATIENT };
    const store = await FoundryStateStore.getOrCreate(NAME, options);
    return isolation ? store.withCallId("call") : store;
  };
  const close = async () => {
    await proxy.close();
    await emulator.close();
  };
  try {
    const state = await open();
    return {
      store: new FoundryHistoryStore(state, { ...PATIENT, ...given }),
      close,
      another: async () => new FoundryHistoryStore(await open(), { ...PATIENT, ...given }),
      ...faultHooks(proxy, { protocol: "http" }),
      corrupt: (key, position) => corrupt(state, key, position),
      sharedClient: async () => ({
        store: new FoundryHistoryStore(state, { ...PATIENT, ...given }),
        isClientOpen: async () => (await state.getStore()).name === NAME,
      }),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens conversations in files. */
export async function openHistoryLocally(given: OpenOptions = {}): Promise<OpenedHistoryStore> {
  const directory = await mkdtemp(join(tmpdir(), "agentfw-local-"));
  const open = () => LocalStateStore.getOrCreate(NAME, { directory, itemTtlSeconds: -1, ...PATIENT });
  const close = () => rm(directory, { recursive: true, force: true });
  try {
    const state = await open();
    const options = { ...PATIENT, ...given };
    return {
      store: new FoundryHistoryStore(state, options),
      close,
      another: async () => new FoundryHistoryStore(await open(), options),
      corrupt: (key, position) => corrupt(state, key, position),
    };
  } catch (error) {
    await close();
    throw error;
  }
}
