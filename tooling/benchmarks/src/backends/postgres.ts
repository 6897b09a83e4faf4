import { AgentSession, type HistoryRecord } from "@agentfw/core";
import { LOADED_MESSAGES, messages, TurnSource, turn } from "../conversation.ts";
import { importJob } from "../import-time.ts";
import type { Backend, JobContext, OpenJob, Operation } from "../measurement.ts";
import { peerAppends, peerConcurrentAppends, peerLoads } from "../peers.ts";
import { openPostgres, type PostgresPlace } from "../postgres-place.ts";
import { appendTurn, assertLoaded, loadWindow, seedStore } from "../provider-turns.ts";
import { inPieces, keyOf, records } from "../store-records.ts";

/** Turns that are appended in a block: with as many, a conversation has grown by a quarter. */
const TURNS_IN_A_BLOCK = 125;

/** A short conversation, beside the long one that a load must not depend on. */
export const FEW_MESSAGES = 100;

/**
 * Conversations on a PostgreSQL server, beside as many messages of others as the longest one has. Raw is a table of JSON
 * texts: one INSERT of two rows for a turn, one SELECT of the newest 20.
 */
export const postgresBackend: Backend = {
  name: "postgres",
  jobs: {
    "append-turn": appendJob,
    "load-last-20": (context) => loadJob(context, [context.sizes.messages]),
    "load-last-20-of-100000": (context) => loadJob(context, [context.sizes.manyMessages, FEW_MESSAGES]),
    "concurrent-64": concurrentJob,
    import: (context) => importJob(context, { folder: "history-postgres", driver: "pg" }),
  },
};

async function appendJob(context: JobContext): Promise<OpenJob> {
  const count = context.sizes.messages;
  const place = await openPostgres(context.sizes.manyMessages);
  const ours = appends("agentfw", count, async (session) => {
    const { sourceId } = place.provider;
    await place.store.append({ ...keyOf(session), source: sourceId }, records(messages(count)));
    const agentSession = new AgentSession({ sessionId: session, owner: null });
    return (turns) => appendTurn(place.provider, agentSession, turns.next());
  });
  const byHand = (name: string, statement?: string) =>
    appends(name, count, async (session) => {
      await place.insert(session, records(messages(count)));
      return (turns) => rawTurn(place, session, turns, statement);
    });
  const peers = await peerAppends(context, "postgres", place);
  const contenders = [byHand("raw"), byHand("raw prepared", "raw-insert"), ours, ...peers];
  await place.settle();
  return { contenders: contenders.map(place.counted), close: () => place.close() };
}

/** Appends to a conversation that `begin` fills, and that is another one when it has grown by a quarter. */
function appends(
  name: string,
  count: number,
  begin: (session: string) => Promise<(turns: TurnSource) => Promise<unknown>>,
): Operation {
  const turns = new TurnSource();
  let append: ((turns: TurnSource) => Promise<unknown>) | undefined;
  const conversation = renewing(name, count, async (session) => {
    append = await begin(session);
  });
  return {
    name,
    maxOperations: TURNS_IN_A_BLOCK,
    prepare: () => conversation.prepare(),
    operation: () => {
      conversation.session();
      return append?.(turns);
    },
  };
}

/** A conversation of a length, under a new name whenever so many turns were added that it is a quarter longer. */
export function renewing(
  name: string,
  count: number,
  fill: (session: string) => Promise<unknown>,
): { prepare(): Promise<void>; session(): string } {
  let number = 0;
  let turns = Number.POSITIVE_INFINITY;
  return {
    async prepare() {
      if (2 * turns > count / 4) {
        number += 1;
        turns = 0;
        await fill(`${name}-${number}`);
      }
    },
    /** The name of the conversation, for one more turn. */
    session() {
      turns += 1;
      return `${name}-${number}`;
    },
  };
}

async function loadJob(context: JobContext, [count = 0, ...otherCounts]: readonly number[]): Promise<OpenJob> {
  const place = await openPostgres(context.sizes.manyMessages);
  const ours = async (length: number): Promise<Operation> => {
    const session = new AgentSession();
    await seedStore(place.store, place.provider, session, messages(length));
    const name = length === count ? "agentfw" : `agentfw ${length}`;
    return { name, operation: () => loadWindow(place.provider, session, turn(length)) };
  };
  await inPieces(count, (piece) => place.insert("raw", piece));
  const rawLoad = async (statement?: string) => {
    const texts = await selectLast(place, "raw", statement);
    assertLoaded(texts.map((text): unknown => JSON.parse(text)).length);
  };
  const contenders: Operation[] = [
    { name: "raw", operation: () => rawLoad() },
    { name: "raw prepared", operation: () => rawLoad("raw-select") },
  ];
  for (const length of [count, ...otherCounts]) {
    contenders.push(await ours(length));
  }
  contenders.push(...(await peerLoads(context, "postgres", count, place)));
  await place.settle();
  return { contenders: contenders.map(place.counted), close: () => place.close() };
}

async function concurrentJob(context: JobContext): Promise<OpenJob> {
  const place = await openPostgres(context.sizes.manyMessages);
  const numbers = Array.from({ length: context.sizes.conversations }, (_, number) => number);
  const sessions = numbers.map(() => new AgentSession());
  const turns = new TurnSource();
  const raw: Operation = {
    name: "raw",
    operation: () => Promise.all(numbers.map((number) => rawTurn(place, `raw-${number}`, turns))),
  };
  const together: Operation = {
    name: "agentfw",
    operation: () => Promise.all(sessions.map((session) => appendTurn(place.provider, session, turns.next()))),
  };
  const oneByOne: Operation = {
    name: "agentfw one by one",
    operation: async () => {
      for (const session of sessions) {
        await appendTurn(place.provider, session, turns.next());
      }
    },
  };
  const contenders = [raw, together, oneByOne, ...(await peerConcurrentAppends(context, "postgres", place))];
  await place.settle();
  return { contenders, close: () => place.close() };
}

function rawTurn(place: PostgresPlace, session: string, turns: TurnSource, statement?: string): Promise<unknown> {
  const { user, assistant } = turns.next();
  return insertTurn(place, session, records([user, assistant]), statement);
}

/** One INSERT of two rows; with a name, the server keeps its plan. */
export function insertTurn(
  { pool, table }: PostgresPlace,
  session: string,
  [first, second]: readonly HistoryRecord[],
  name?: string,
): Promise<unknown> {
  return pool.query({
    name,
    text: `INSERT INTO ${table} (session, id, data) VALUES ($1, $2, $3), ($1, $4, $5)`,
    values: [session, first?.id, first?.data, second?.id, second?.data],
  });
}

/** One SELECT of the newest 20; with a name, the server keeps its plan. */
export async function selectLast({ pool, table }: PostgresPlace, session: string, name?: string): Promise<string[]> {
  const text = `SELECT data FROM ${table} WHERE session = $1 ORDER BY seq DESC LIMIT ${LOADED_MESSAGES}`;
  const { rows } = await pool.query({ name, text, values: [session] });
  return rows.map(({ data }) => String(data)).reverse();
}
