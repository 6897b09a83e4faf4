import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HistoryStore, InMemoryHistoryStore } from "@agentfw/core";
import { FoundryHistoryStore, FoundryStateStore } from "@agentfw/foundry-state-store";
import { type StateStoreEmulator, startEmulator } from "@agentfw/foundry-state-store/emulator";
import { BlobHistoryStore } from "@agentfw/history-blob";
import { FileHistoryStore } from "@agentfw/history-file";
import { type PostgresConnectionOptions, PostgresHistoryStore } from "@agentfw/history-postgres";
import { RedisHistoryStore } from "@agentfw/history-redis";
import { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { inject, onTestFinished } from "vitest";

/** Opens the empty data of one test. What it gives makes a store object on it, as another process would have one. */
export type OpenData = () => Promise<() => HistoryStore>;

/** Nothing here is about deadlines, and the machine may be busy. */
const PATIENT = { timeoutMs: 60_000 };

/** Every place that a conversation can be kept at. A further backend is a further entry. */
export const BACKENDS: Readonly<Record<string, OpenData>> = {
  async memory() {
    const data = new InMemoryHistoryStore();
    return () => data;
  },
  async file() {
    const directory = await mkdtemp(join(tmpdir(), "agentfw-endurance-"));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    return () => closing(new FileHistoryStore({ directory, fsync: false, ...PATIENT }));
  },
  async redis() {
    const keyPrefix = randomUUID();
    const url = inject("redisUrl");
    return () => closing(new RedisHistoryStore({ url }, { keyPrefix, ...PATIENT }));
  },
  postgres() {
    pool ??= new pg.Pool({ connectionString: inject("postgresUrl") });
    return inTables({ pool });
  },
  async pglite() {
    embedded ??= PGlite.create();
    return inTables({ client: await embedded });
  },
  async blob() {
    const connectionString = inject("storageConnectionString");
    const options = { prefix: randomUUID(), createContainer: true, ...PATIENT };
    return () => closing(new BlobHistoryStore({ connectionString, containerName: "endurance" }, options));
  },
  async foundry() {
    emulator ??= startEmulator();
    const { endpoint } = await emulator;
    const state = await FoundryStateStore.getOrCreate(randomUUID(), { endpoint, itemTtlSeconds: -1, ...PATIENT });
    return () => new FoundryHistoryStore(state, PATIENT);
  },
};

/** One of each for all test files of this process, which run one after another: PGlite takes seconds to start. */
let pool: pg.Pool | undefined;
let embedded: Promise<PGlite> | undefined;
let emulator: Promise<StateStoreEmulator> | undefined;

/** Tables take longer to make than to empty. */
const SCHEMA = `endurance-${randomUUID()}`;

async function inTables(connection: PostgresConnectionOptions): Promise<() => HistoryStore> {
  const open = () => new PostgresHistoryStore(connection, { schema: SCHEMA, ...PATIENT });
  const store = open();
  for (const owner of ["ann", "bob", null]) {
    await store.erase({ owner });
  }
  return open;
}

function closing(store: HistoryStore): HistoryStore {
  onTestFinished(() => store.close?.());
  return store;
}
