import { appendFile, mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentSession, HistoryProvider, type Message } from "@agentfw/core";
import { FileHistoryStore } from "@agentfw/history-file";
import { LOADED_MESSAGES, messages, TurnSource, turn } from "../conversation.ts";
import { importJob } from "../import-time.ts";
import type { Backend, JobContext, OpenJob } from "../measurement.ts";
import { peerAppends, peerConcurrentAppends, peerLoads } from "../peers.ts";
import { appendTurn, assertLoaded, loadWindow, seedStore } from "../provider-turns.ts";

/** What the raw tail read takes from the end of a file, in bytes. */
const TAIL_BYTES = 64 * 1024;

/** Conversations in files, each turn on the disk before it counts as stored. Raw does the same by hand. */
export const fileBackend: Backend = {
  name: "file",
  jobs: {
    "append-turn": (context) => appendJob(context, true),
    "load-last-20": (context) => loadJob(context, context.sizes.messages),
    "load-last-20-of-100000": (context) => loadJob(context, context.sizes.manyMessages),
    "concurrent-64": (context) => concurrentJob(context, true),
    import: (context) => importJob(context, { folder: "history-file" }),
  },
};

/** The same without waiting for the disk: what survives the end of the process, and not a power cut. */
export const fileWithoutFsyncBackend: Backend = {
  name: "file-no-fsync",
  jobs: {
    "append-turn": (context) => appendJob(context, false),
    "concurrent-64": (context) => concurrentJob(context, false),
  },
};

async function appendJob(context: JobContext, fsync: boolean): Promise<OpenJob> {
  const seed = messages(context.sizes.messages);
  const file = await rawFile(context, "raw", seed);
  const { provider, store } = openStore(context, fsync);
  const session = new AgentSession();
  await seedStore(store, provider, session, seed);
  const [rawTurns, turns] = [new TurnSource(), new TurnSource()];
  return {
    contenders: [
      { name: "raw", operation: () => rawAppend(file, rawTurns, fsync) },
      { name: "agentfw", operation: () => appendTurn(provider, session, turns.next()) },
      // None of the peers waits for the disk.
      ...(fsync ? [] : await peerAppends(context, "file")),
    ],
    close: () => store.close(),
  };
}

async function concurrentJob(context: JobContext, fsync: boolean): Promise<OpenJob> {
  const numbers = Array.from({ length: context.sizes.conversations }, (_, number) => number);
  const files = await Promise.all(numbers.map((number) => rawFile(context, `raw-${number}`, [])));
  const { provider, store } = openStore(context, fsync);
  const sessions = numbers.map(() => new AgentSession());
  const [rawTurns, turns] = [new TurnSource(), new TurnSource()];
  const raw = () => Promise.all(files.map((file) => rawAppend(file, rawTurns, fsync)));
  const ours = () => Promise.all(sessions.map((session) => appendTurn(provider, session, turns.next())));
  return {
    contenders: [
      { name: "raw", operation: raw },
      { name: "agentfw", operation: ours },
      ...(fsync ? [] : await peerConcurrentAppends(context, "file")),
    ],
    close: () => store.close(),
  };
}

async function loadJob(context: JobContext, count: number): Promise<OpenJob> {
  const seed = messages(count);
  const file = await rawFile(context, "raw", seed);
  // What is loaded does not depend on how it was written.
  const { provider, store } = openStore(context, false);
  const session = new AgentSession();
  await seedStore(store, provider, session, seed);
  return {
    contenders: [
      { name: "raw", operation: () => readWhole(file) },
      { name: "raw tail read", operation: () => readTail(file) },
      { name: "agentfw", operation: () => loadWindow(provider, session, turn(count)) },
      ...(await peerLoads(context, "file", count)),
    ],
    close: () => store.close(),
  };
}

function openStore({ directory }: JobContext, fsync: boolean): { store: FileHistoryStore; provider: HistoryProvider } {
  const store = new FileHistoryStore({ directory: join(directory, "agentfw"), fsync });
  return { store, provider: new HistoryProvider(store, { maxMessages: LOADED_MESSAGES }) };
}

async function rawFile({ directory }: JobContext, name: string, seed: readonly Message[]): Promise<string> {
  await mkdir(join(directory, "raw"), { recursive: true });
  const file = join(directory, "raw", `${name}.jsonl`);
  await appendFile(file, seed.map(line).join(""));
  return file;
}

function line(message: Message): string {
  return `${JSON.stringify(message)}\n`;
}

async function rawAppend(file: string, turns: TurnSource, fsync: boolean): Promise<void> {
  const { user, assistant } = turns.next();
  const text = line(user) + line(assistant);
  if (!fsync) {
    await appendFile(file, text);
    return;
  }
  const handle = await open(file, "a");
  try {
    await handle.write(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function readWhole(file: string): Promise<void> {
  const lines = (await readFile(file, "utf8")).split("\n");
  parseLast(lines);
}

async function readTail(file: string): Promise<void> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(size - start), 0, size - start, start);
    parseLast(buffer.toString("utf8", 0, bytesRead).split("\n"));
  } finally {
    await handle.close();
  }
}

/** The last line ends with a line feed, so what is behind it is empty. */
function parseLast(lines: readonly string[]): void {
  const parsed = lines.slice(-LOADED_MESSAGES - 1, -1).map((text): unknown => JSON.parse(text));
  assertLoaded(parsed.length);
}
