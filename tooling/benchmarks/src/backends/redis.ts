import { AgentSession } from "@agentfw/core";
import { messages, TurnSource, turn } from "../conversation.ts";
import { importJob } from "../import-time.ts";
import { type Backend, type JobContext, LOADED_MESSAGES, type OpenJob, type Operation } from "../measurement.ts";
import { peerAppends, peerConcurrentAppends, peerLoads } from "../peers.ts";
import { appendTurn, assertLoaded, loadWindow, seedStore } from "../provider-turns.ts";
import { openRedis, openRedisStore, type RedisPlace } from "../redis-place.ts";

/** Turns that are appended in a block; the conversation is cut back for the next one. */
const TURNS_IN_A_BLOCK = 125;

/** A short conversation, beside the long one that a load must not depend on. */
export const FEW_MESSAGES = 100;

/** Conversations on a Redis server. Raw is a list of JSON texts: one RPUSH for a turn, one LRANGE for the newest 20. */
export const redisBackend: Backend = {
  name: "redis",
  jobs: {
    "append-turn": appendJob,
    "load-last-20": (context) => loadJob(context, [context.sizes.messages]),
    "load-last-20-of-100000": (context) => loadJob(context, [context.sizes.manyMessages, FEW_MESSAGES]),
    "concurrent-64": (context) => concurrentJob(context, 0),
    import: (context) => importJob(context, { folder: "history-redis", driver: "ioredis" }),
  },
};

/** The same with a server that is a millisecond away in each direction. */
export const redisFarBackend: Backend = {
  name: "redis-1-ms",
  jobs: { "concurrent-64": (context) => concurrentJob(context, 1) },
};

async function appendJob(context: JobContext): Promise<OpenJob> {
  const place = await openRedis();
  const { store, provider } = openRedisStore(place);
  const count = context.sizes.messages;
  let session = new AgentSession();
  const turns = new TurnSource();
  const ours: Operation = {
    name: "agentfw",
    maxOperations: TURNS_IN_A_BLOCK,
    prepare: async () => {
      await provider.conversation(session).clear();
      session = new AgentSession();
      await seedStore(store, provider, session, messages(count));
    },
    operation: () => appendTurn(provider, session, turns.next()),
  };
  const contenders = [await rawAppend(place, count), ours, ...(await peerAppends(context, "redis", place))];
  return { contenders: contenders.map(place.counted), close: closing(store, place) };
}

async function rawAppend(place: RedisPlace, count: number): Promise<Operation> {
  const key = await seedRaw(place, count);
  const turns = new TurnSource();
  return {
    name: "raw",
    maxOperations: TURNS_IN_A_BLOCK,
    prepare: () => void place.client.ltrim(key, 0, count - 1),
    operation: () => rawTurn(place, key, turns),
  };
}

async function loadJob(context: JobContext, [count = 0, ...otherCounts]: readonly number[]): Promise<OpenJob> {
  const place = await openRedis();
  const { store, provider } = openRedisStore(place);
  const ours = async (length: number): Promise<Operation> => {
    const session = new AgentSession();
    await seedStore(store, provider, session, messages(length));
    const name = length === count ? "agentfw" : `agentfw ${length}`;
    return { name, operation: () => loadWindow(provider, session, turn(length)) };
  };
  const contenders = [await rawLoad(place, count)];
  for (const length of [count, ...otherCounts]) {
    contenders.push(await ours(length));
  }
  contenders.push(...(await peerLoads(context, "redis", count, place)));
  return { contenders: contenders.map(place.counted), close: closing(store, place) };
}

async function rawLoad(place: RedisPlace, count: number): Promise<Operation> {
  const key = await seedRaw(place, count);
  return {
    name: "raw",
    operation: async () => {
      const texts = await place.client.lrange(key, -LOADED_MESSAGES, -1);
      assertLoaded(texts.map((text): unknown => JSON.parse(String(text))).length);
    },
  };
}

async function concurrentJob(context: JobContext, latencyMs: number): Promise<OpenJob> {
  const place = await openRedis(latencyMs);
  const { store, provider } = openRedisStore(place);
  const numbers = Array.from({ length: context.sizes.conversations }, (_, number) => number);
  const keys = numbers.map((number) => `${place.prefix}-raw-${number}`);
  const sessions = numbers.map(() => new AgentSession());
  const turns = new TurnSource();
  const clear = () => Promise.all(sessions.map((session) => provider.conversation(session).clear()));
  const raw: Operation = {
    name: "raw",
    prepare: async () => void (await place.client.del(...keys)),
    operation: () => Promise.all(keys.map((key) => rawTurn(place, key, turns))),
  };
  const together: Operation = {
    name: "agentfw",
    prepare: async () => void (await clear()),
    operation: () => Promise.all(sessions.map((session) => appendTurn(provider, session, turns.next()))),
  };
  const oneByOne: Operation = {
    name: "agentfw one by one",
    prepare: async () => void (await clear()),
    operation: async () => {
      for (const session of sessions) {
        await appendTurn(provider, session, turns.next());
      }
    },
  };
  const contenders = [raw, together, oneByOne, ...(await peerConcurrentAppends(context, "redis", place))];
  return { contenders, close: closing(store, place) };
}

function rawTurn({ client }: RedisPlace, key: string, turns: TurnSource): Promise<number> {
  const { user, assistant } = turns.next();
  return client.rpush(key, JSON.stringify(user), JSON.stringify(assistant));
}

async function seedRaw({ client, prefix }: RedisPlace, count: number): Promise<string> {
  const key = `${prefix}-raw`;
  const texts = messages(count).map((message) => JSON.stringify(message));
  for (let start = 0; start < texts.length; start += 1000) {
    await client.rpush(key, ...texts.slice(start, start + 1000));
  }
  return key;
}

function closing(store: { close(): Promise<void> }, place: RedisPlace): () => Promise<void> {
  return async () => {
    await store.close();
    await place.close();
  };
}
