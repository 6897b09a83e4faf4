import { resolve } from "node:path";
import { type AgentSession, HistoryProvider } from "@agentfw/core";
import { PostgresHistoryStore } from "@agentfw/history-postgres";
import { type EmbeddedPostgres, openEmbeddedPostgres } from "../embedded-postgres.ts";
import { command, DEFAULT_DATA } from "../options.ts";
import { shellQuoted, withoutPassword } from "../terminal.ts";
import type { Backend, BackendOptions, OpenBackend } from "./backend.ts";

/** Holds the tables, so that what this program stored can be told from everything else on a server. */
const SCHEMA = "agentfw_quickstart";

const TABLE = `${SCHEMA}.history_record`;

/** The source of the history provider, which is one column of a conversation's name. */
const SOURCE = "history";

/** Starting PostgreSQL in this process is part of a first call, and takes longer on a busy machine than a server does. */
const EMBEDDED_TIMEOUT_MS = 60_000;

/** Tables in PostgreSQL: on the server that `--url` names, or in a folder, run by PGlite inside of this program. */
export const postgresBackend: Backend = {
  summary: "tables in PostgreSQL",
  isInSession: false,
  open: async (options) => (options.url === undefined ? embedded(options) : onServer(options.url, options)),
};

function onServer(url: string, { onDiagnostic }: BackendOptions): OpenBackend {
  const store = new PostgresHistoryStore({ connectionString: url }, { schema: SCHEMA });
  const shownUrl = withoutPassword(url);
  const psql = (sql: string) => `psql ${shellQuoted(shownUrl)} -c ${shellQuoted(sql)}`;
  return {
    url,
    processes: "many",
    howToKeep: undefined,
    place: `${shownUrl}, in the schema ${SCHEMA}`,
    provider: async (policy) => new HistoryProvider(store, { ...policy, onDiagnostic }),
    where: async () => `${shownUrl}, in the table ${TABLE}`,
    howToLook: async (session) => [psql(conversations()), psql(recordsOf(session))],
    howToDelete: () => psql(`DROP SCHEMA ${SCHEMA} CASCADE`),
    clear: (session) => new HistoryProvider(store).conversation(session).clear(),
    close: () => store.close(),
  };
}

function embedded({ data, onDiagnostic }: BackendOptions): OpenBackend {
  const folder = resolve(data, "postgres");
  let opened: Promise<{ database: EmbeddedPostgres; store: PostgresHistoryStore }> | undefined;
  const use = () => {
    opened ??= start(folder).catch((error) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
  const settings = { timeoutMs: EMBEDDED_TIMEOUT_MS, onDiagnostic };
  return {
    url: undefined,
    processes: "one",
    howToKeep: undefined,
    place: `${folder}, in the schema ${SCHEMA}`,
    provider: async (policy) => new HistoryProvider((await use()).store, { ...policy, ...settings }),
    where: async () => `${folder}, in the table ${TABLE}`,
    howToLook: async (session) => {
      const folderOption = data === DEFAULT_DATA ? [] : [`--data=${data}`];
      const show = (sql: string) => command("--backend=postgres", ...folderOption, "--sql", sql);
      return [show(conversations()), show(recordsOf(session))];
    },
    query: async (sql) => (await (await use()).database.query(sql)).rows,
    howToDelete: () => `rm -r ${shellQuoted(folder)}`,
    clear: async (session) => new HistoryProvider((await use()).store, settings).conversation(session).clear(),
    close: async () => {
      const open = await opened?.catch(() => undefined);
      opened = undefined;
      await open?.database.close();
    },
  };
}

async function start(folder: string): Promise<{ database: EmbeddedPostgres; store: PostgresHistoryStore }> {
  const database = await openEmbeddedPostgres(folder);
  const store = new PostgresHistoryStore({ client: database }, { schema: SCHEMA, timeoutMs: EMBEDDED_TIMEOUT_MS });
  return { database, store };
}

function conversations(): string {
  return `SELECT owner, source, session FROM ${SCHEMA}.history_conversation`;
}

function recordsOf({ owner, sessionId }: AgentSession): string {
  const isOwner = owner === null ? "owner IS NULL" : `owner = ${literal(owner)}`;
  const name = `${isOwner} AND source = '${SOURCE}' AND session = ${literal(sessionId)}`;
  const from = `${TABLE} AS r JOIN ${SCHEMA}.history_conversation USING (k)`;
  return `SELECT r.seq, data FROM ${from} WHERE ${name} AND r.seq > 0 ORDER BY r.seq`;
}

/** A name as the table holds it, where a backslash begins an escape, as a literal. */
function literal(name: string): string {
  const stored = name.replace(/[\\\0\n]|\p{Cs}/gu, (one) =>
    one === "\\" ? "\\\\" : `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `'${stored.replaceAll("'", "''")}'`;
}
