import { PostgresStateStore } from "@agentfw/state-postgres";
import type { Backend, JobContext, OpenJob, Operation } from "../measurement.ts";
import { openPostgres, type PostgresPlace } from "../postgres-place.ts";
import { fillItems, gettingFromStore, gettingItem, MEASURED_KEY, settingInStore, settingItem } from "../state-items.ts";

/**
 * State on a PostgreSQL server. Raw is a table of JSON texts by key: one upsert, which asks nobody whether it may, and one
 * SELECT. Ours writes under the etag of the last write.
 */
export const postgresStateBackend: Backend = {
  name: "postgres-state",
  jobs: { "state-set": (context) => stateJob(context, sets), "state-get": (context) => stateJob(context, gets) },
};

/** A place with the table of what is done by hand, and our store. */
interface StatePlace {
  readonly pool: PostgresPlace["pool"];
  readonly table: string;
  readonly store: PostgresStateStore;
}

async function stateJob(
  { sizes }: JobContext,
  contendersAt: (place: StatePlace) => Promise<Operation[]>,
): Promise<OpenJob> {
  const server = await openPostgres(0);
  const { pool, prefix, url } = server;
  const table = `"${prefix}".state`;
  const store = new PostgresStateStore({ connectionString: url }, { schema: `${prefix}-store` });
  const place = { pool, table, store };
  await pool.query(`CREATE TABLE ${table} (key text PRIMARY KEY, value text NOT NULL)`);
  await fillItems(sizes.items, (key, text) => upsert(place, key, text));
  await fillItems(sizes.items, (key, text) => store.create(key, text));
  const contenders = await contendersAt(place);
  await server.settle();
  return {
    contenders: contenders.map(server.counted),
    async close() {
      await store.close();
      await server.close();
    },
  };
}

async function sets(place: StatePlace): Promise<Operation[]> {
  return [
    settingItem("raw", (text) => upsert(place, MEASURED_KEY, text)),
    settingItem("raw prepared", (text) => upsert(place, MEASURED_KEY, text, "raw-upsert")),
    await settingInStore(place.store),
  ];
}

async function gets({ pool, table, store }: StatePlace): Promise<Operation[]> {
  const select = async (name?: string) => {
    const text = `SELECT value FROM ${table} WHERE key = $1`;
    const { rows } = await pool.query({ name, text, values: [MEASURED_KEY] });
    return String(rows[0]?.value);
  };
  return [
    gettingItem("raw", () => select()),
    gettingItem("raw prepared", () => select("raw-select-state")),
    gettingFromStore(store),
  ];
}

/** With a name, the server keeps its plan. */
function upsert({ pool, table }: StatePlace, key: string, value: string, name?: string): Promise<unknown> {
  return pool.query({
    name,
    text: `INSERT INTO ${table} (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value`,
    values: [key, value],
  });
}
