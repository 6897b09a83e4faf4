import { randomUUID } from "node:crypto";
import { HistoryProvider, type HistoryRecord } from "@agentfw/core";
import { type BlobContainerClient, BlobHistoryStore } from "@agentfw/history-blob";
import { type AzuriteServer, startAzurite } from "@agentfw/test-servers";
import type { AppendBlobClient, ContainerClient } from "@azure/storage-blob";
import { LOADED_MESSAGES } from "./conversation.ts";
import { BenchmarkError } from "./errors.ts";
import type { Operation } from "./measurement.ts";
import { assertLoaded } from "./provider-turns.ts";

/** A container for one job. */
export interface BlobPlace {
  /** For what is done by hand. */
  readonly container: ContainerClient;
  /** The same container, whose requests are counted. */
  readonly counting: BlobContainerClient;
  /** Lets the requests be counted that one operation makes through `counting`. */
  counted(operation: Operation): Operation;
  /** Deletes the container, and ends a server that was started. */
  close(): Promise<void>;
}

/** The newest messages stand in turns of their own; what is older comes in large pieces, which no load of them reads. */
const IN_TURNS = 1000;
const PIECE = 1000;

/** Starts Azurite, or goes to the account that `AZURE_STORAGE_CONNECTION_STRING` names. */
export async function openBlobPlace(): Promise<BlobPlace> {
  const given = process.env["AZURE_STORAGE_CONNECTION_STRING"];
  const server = given === undefined ? await startServer() : undefined;
  const connectionString = given ?? server?.connectionString ?? "";
  // Not bundled, so that the other jobs do not load it.
  const blobs = await import("@azure/storage-blob");
  const container = new blobs.ContainerClient(connectionString, `agentfw-benchmarks-${randomUUID()}`.slice(0, 63));
  await container.create();
  let requests = 0;
  const counting = counted(container, () => {
    requests += 1;
  });
  return {
    container,
    counting,
    counted: (operation) => ({
      ...operation,
      countRoundTrips: async () => {
        requests = 0;
        await operation.operation();
        return requests;
      },
    }),
    async close() {
      await container.delete();
      // Not waited for: it goes by itself, also when this process ends before.
      void server?.stop();
    },
  };
}

/** Our store in such a place. */
export function openBlobStore({ counting }: BlobPlace): { store: BlobHistoryStore; provider: HistoryProvider } {
  const store = new BlobHistoryStore({ container: counting }, { timeoutMs: 60_000 });
  return { store, provider: new HistoryProvider(store, { maxMessages: LOADED_MESSAGES, timeoutMs: 60_000 }) };
}

/** What is done by hand: an append blob with a line for each message. */
export interface RawBlob {
  /** Makes the blob anew, with these messages. */
  fill(records: readonly HistoryRecord[]): Promise<void>;
  /** One block with a line for each message. */
  append(records: readonly HistoryRecord[]): Promise<unknown>;
  /** One download of the bytes that the newest 20 messages are in, whose place is known. */
  load(): Promise<string[]>;
}

/** A blob for raw. */
export function openRawBlob({ counting, container }: BlobPlace): RawBlob {
  const name = `raw-${randomUUID()}`;
  const client: AppendBlobClient = container.getAppendBlobClient(name);
  const counted = counting.getAppendBlobClient(name);
  let newest: { start: number; bytes: number } | undefined;
  const append = (records: readonly HistoryRecord[]) => {
    const body = Buffer.from(records.map(({ data }) => `${data}\n`).join(""));
    return counted.appendBlock(body, body.length);
  };
  return {
    append,
    async fill(records) {
      await client.create();
      await inTurns(records, append);
      const bytes = records.slice(-LOADED_MESSAGES).reduce((sum, { data }) => sum + Buffer.byteLength(data) + 1, 0);
      const { contentLength = 0 } = await client.getProperties();
      newest = { start: contentLength - bytes, bytes };
    },
    async load() {
      const { readableStreamBody } = await counted.download(newest?.start, newest?.bytes);
      const pieces: Buffer[] = [];
      for await (const piece of readableStreamBody ?? []) {
        pieces.push(Buffer.from(piece));
      }
      const lines = Buffer.concat(pieces).toString("utf8").trimEnd().split("\n");
      assertLoaded(lines.length);
      return lines;
    },
  };
}

/** Appends records as a conversation has them: the newest in turns of two, the older ones many at once. */
export async function inTurns(
  records: readonly HistoryRecord[],
  append: (turn: readonly HistoryRecord[]) => Promise<unknown>,
): Promise<void> {
  const older = Math.max(0, records.length - IN_TURNS);
  for (let start = 0; start < records.length; ) {
    const end = start < older ? Math.min(older, start + PIECE) : Math.min(records.length, start + 2);
    await append(records.slice(start, end));
    start = end;
  }
}

async function startServer(): Promise<AzuriteServer> {
  try {
    return await startAzurite();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new BenchmarkError(`Azurite could not be started: ${reason}`, { cause });
  }
}

/** A container that tells of each request. */
function counted(container: ContainerClient, tell: () => void): BlobContainerClient {
  const told = <T>(answer: T): T => {
    tell();
    return answer;
  };
  return {
    getAppendBlobClient(name) {
      const blob = container.getAppendBlobClient(name);
      return {
        create: (options) => told(blob.create(options)),
        appendBlock: (body, length, options) => told(blob.appendBlock(body, length, options)),
        download: (offset, count, options) => told(blob.download(offset, count, options)),
        delete: (options) => told(blob.delete(options)),
      };
    },
    listBlobsFlat(options) {
      const blobs = container.listBlobsFlat(options);
      return { byPage: (settings) => told(blobs.byPage(settings)) };
    },
    create: (options) => told(container.create(options)),
  };
}
