import type { BlobHistoryStore } from "@agentfw/history-blob";
import { type BlobPlace, inTurns, openBlobPlace, openBlobStore, openRawBlob } from "../blob-place.ts";
import { LOADED_MESSAGES, messages } from "../conversation.ts";
import type { Backend, JobContext, OpenJob, Operation } from "../measurement.ts";
import { assertLoaded } from "../provider-turns.ts";
import { appendingRecords, keyOf, records } from "../store-records.ts";
import { FEW_MESSAGES } from "./redis.ts";

/** The store alone against its requests alone, with texts that are there already. */
export const blobStoreBackend: Backend = {
  name: "blob-store",
  jobs: {
    "append-turn": appendJob,
    "load-last-20": ({ sizes }) => loadJob([sizes.messages]),
    "load-last-20-of-100000": ({ sizes }) => loadJob([sizes.manyMessages, FEW_MESSAGES]),
  },
};

async function appendJob({ sizes }: JobContext): Promise<OpenJob> {
  const place = await openBlobPlace();
  const { store } = openBlobStore(place);
  const raw = openRawBlob(place);
  const key = keyOf("append");
  const seed = records(messages(Math.min(FEW_MESSAGES, sizes.messages)));
  const ours = {
    prepare: async () => {
      await store.clear(key);
      await inTurns(seed, (turn) => store.append(key, turn));
    },
    append: (added: Parameters<typeof store.append>[1]) => store.append(key, added),
  };
  const contenders = [
    appendingRecords("raw", { prepare: () => raw.fill(seed), append: raw.append }),
    appendingRecords("agentfw", ours),
  ];
  return { contenders: contenders.map(place.counted), close: closing(store, place) };
}

async function loadJob([count = 0, ...otherCounts]: readonly number[]): Promise<OpenJob> {
  const place = await openBlobPlace();
  const { store } = openBlobStore(place);
  const raw = openRawBlob(place);
  await raw.fill(records(messages(count)));
  const contenders: Operation[] = [{ name: "raw", operation: () => raw.load() }];
  for (const length of [count, ...otherCounts]) {
    const key = keyOf(String(length));
    await inTurns(records(messages(length)), (turn) => store.append(key, turn));
    contenders.push({
      name: length === count ? "agentfw" : `agentfw ${length}`,
      operation: async () => assertLoaded((await store.read(key, { last: LOADED_MESSAGES })).records.length),
    });
  }
  return { contenders: contenders.map(place.counted), close: closing(store, place) };
}

function closing(store: BlobHistoryStore, place: BlobPlace): () => Promise<void> {
  return async () => {
    await store.close();
    await place.close();
  };
}
