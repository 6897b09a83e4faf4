import { AgentSession, type Message } from "@agentfw/core";
import { type BlobPlace, openBlobPlace, openBlobStore, openRawBlob, type RawBlob } from "../blob-place.ts";
import { messages, TurnSource, turn } from "../conversation.ts";
import { importJob } from "../import-time.ts";
import type { Backend, JobContext, OpenJob, Operation } from "../measurement.ts";
import { appendTurn, loadWindow, seedStore } from "../provider-turns.ts";
import { records } from "../store-records.ts";
import { FEW_MESSAGES } from "./redis.ts";

/** Turns that are appended in a block; the conversation is made anew for the next one. */
const TURNS_IN_A_BLOCK = 25;

/** Conversations in append blobs. Raw is a blob of lines: one append block for a turn, one download of the newest 20. */
export const blobBackend: Backend = {
  name: "blob",
  jobs: {
    "append-turn": appendJob,
    "load-last-20": (context) => loadJob([context.sizes.messages]),
    "load-last-20-of-100000": (context) => loadJob([context.sizes.manyMessages, FEW_MESSAGES]),
    "concurrent-64": concurrentJob,
    import: (context) => importJob(context, { folder: "history-blob", driver: "@azure/storage-blob" }),
  },
};

async function appendJob({ sizes }: JobContext): Promise<OpenJob> {
  const place = await openBlobPlace();
  const { store, provider } = openBlobStore(place);
  // Azurite takes as long to fill a blob as to measure on it, and appends to a short one in the same time.
  const seed = messages(Math.min(FEW_MESSAGES, sizes.messages));
  const turns = new TurnSource();
  const raw = openRawBlob(place);
  let session = new AgentSession();
  const contenders: Operation[] = [
    {
      name: "raw",
      maxOperations: TURNS_IN_A_BLOCK,
      prepare: () => raw.fill(records(seed)),
      operation: () => rawTurn(raw, turns),
    },
    {
      name: "agentfw",
      maxOperations: TURNS_IN_A_BLOCK,
      prepare: async () => {
        await provider.conversation(session).clear();
        session = new AgentSession();
        await seedStore(store, provider, session, seed);
      },
      operation: () => appendTurn(provider, session, turns.next()),
    },
  ];
  return { contenders: contenders.map(place.counted), close: closing(store, place) };
}

async function loadJob([count = 0, ...otherCounts]: readonly number[]): Promise<OpenJob> {
  const place = await openBlobPlace();
  const { store, provider } = openBlobStore(place);
  const ours = async (length: number): Promise<Operation> => {
    const session = new AgentSession();
    await seedStore(store, provider, session, messages(length));
    const name = length === count ? "agentfw" : `agentfw ${length}`;
    return { name, operation: () => loadWindow(provider, session, turn(length)) };
  };
  const raw = openRawBlob(place);
  await raw.fill(records(messages(count)));
  const parse = (line: string): unknown => JSON.parse(line);
  const contenders: Operation[] = [{ name: "raw", operation: async () => (await raw.load()).map(parse) }];
  for (const length of [count, ...otherCounts]) {
    contenders.push(await ours(length));
  }
  return { contenders: contenders.map(place.counted), close: closing(store, place) };
}

async function concurrentJob({ sizes }: JobContext): Promise<OpenJob> {
  const place = await openBlobPlace();
  const { store, provider } = openBlobStore(place);
  const numbers = Array.from({ length: sizes.conversations }, (_, number) => number);
  const blobs = numbers.map(() => openRawBlob(place));
  const turns = new TurnSource();
  const nothing: readonly Message[] = [];
  let sessions = numbers.map(() => new AgentSession());
  const contenders: Operation[] = [
    {
      name: "raw",
      prepare: async () => void (await Promise.all(blobs.map((blob) => blob.fill(records(nothing))))),
      operation: () => Promise.all(blobs.map((blob) => rawTurn(blob, turns))),
    },
    {
      name: "agentfw",
      prepare: async () => {
        await Promise.all(sessions.map((session) => provider.conversation(session).clear()));
        sessions = numbers.map(() => new AgentSession());
        // The blobs of raw are there, too.
        await Promise.all(sessions.map((session) => appendTurn(provider, session, turns.next())));
      },
      operation: () => Promise.all(sessions.map((session) => appendTurn(provider, session, turns.next()))),
    },
  ];
  return { contenders, close: closing(store, place) };
}

function rawTurn(blob: RawBlob, turns: TurnSource): Promise<unknown> {
  const { user, assistant } = turns.next();
  return blob.append(records([user, assistant]));
}

function closing(store: { close(): Promise<void> }, place: BlobPlace): () => Promise<void> {
  return async () => {
    await store.close();
    await place.close();
  };
}
