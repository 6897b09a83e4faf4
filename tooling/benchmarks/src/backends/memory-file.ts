import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentSession, RunContext, type Tool } from "@agentfw/core";
import { Run } from "@agentfw/core/run";
import { FileMemoryProvider, FileSystemFileStore } from "@agentfw/memory-file";
import { BenchmarkError } from "../errors.ts";
import { importJob } from "../import-time.ts";
import type { Backend, JobContext, OpenJob } from "../measurement.ts";

const SCOPE = "users/42";
const INDEXED_FILES = 50;
const INDEXED_BYTES = 4 * 1024;
const SEARCHED_FILES = 1_000;
const SEARCHED_BYTES = 10 * 1024;
const PATTERN = "pasta\\s+.*without olives";

/** Memories in files: what they cost a run, a search and a write. */
export const memoryFileBackend: Backend = {
  name: "memory-file",
  jobs: {
    "memory-context": contextJob,
    "memory-grep": grepJob,
    "memory-write": writeJob,
    import: (context) => importJob(context, { folder: "memory-file" }),
  },
};

async function contextJob(context: JobContext): Promise<OpenJob> {
  const { store, folder } = await seeded(context, INDEXED_FILES, INDEXED_BYTES);
  const provider = new FileMemoryProvider(store, { scope: SCOPE });
  const expectAll = (count: number) => expectCount(count, INDEXED_FILES, "memories were listed");
  return {
    contenders: [
      { name: "raw", operation: async () => expectAll((await readAll(folder)).length) },
      { name: "agentfw", operation: async () => expectAll(linesOf(await begin(provider))) },
      {
        name: "agentfw first run",
        operation: async () => expectAll(linesOf(await begin(new FileMemoryProvider(store, { scope: SCOPE })))),
      },
    ],
    close: () => store.close(),
  };
}

async function grepJob(context: JobContext): Promise<OpenJob> {
  const { store, folder } = await seeded(context, SEARCHED_FILES, SEARCHED_BYTES);
  const run = await begin(new FileMemoryProvider(store, { scope: SCOPE }));
  const grep = toolOf(run, "file_memory_grep");
  const expectNone = (count: number) => expectCount(count, 0, "lines were found");
  return {
    contenders: [
      { name: "raw", operation: async () => expectNone(await rawGrep(folder)) },
      {
        name: "agentfw",
        operation: async () => {
          const found: unknown = await grep({ regex_pattern: PATTERN });
          expectNone(Array.isArray(found) ? found.length : Number.NaN);
        },
      },
    ],
    close: () => store.close(),
  };
}

async function writeJob(context: JobContext): Promise<OpenJob> {
  const { store, folder } = await seeded(context, INDEXED_FILES, INDEXED_BYTES);
  const raw = join(context.directory, "raw");
  await mkdir(raw);
  const text = textOf(0, INDEXED_BYTES);
  const write = toolOf(await begin(new FileMemoryProvider(store, { scope: SCOPE })), "file_memory_write");
  const args = { file_name: "memory-7.md", content: text, description: "What is in memory 7" };
  return {
    contenders: [
      { name: "raw", operation: () => rawWrite(raw, text) },
      {
        name: "agentfw",
        operation: async () => {
          const answer: unknown = await write(args);
          expectCount(String(answer).startsWith("Saved") ? 1 : 0, 1, "memory was saved");
        },
      },
    ],
    close: async () => {
      expectCount((await readdir(folder)).length, INDEXED_FILES, "memories are there");
      await store.close();
    },
  };
}

async function seeded(
  { directory }: JobContext,
  files: number,
  bytes: number,
): Promise<{ store: FileSystemFileStore; folder: string }> {
  const root = join(directory, "memory");
  const folder = join(root, SCOPE);
  const store = new FileSystemFileStore(root);
  // Written by the store once, so that its directory is what it is after a while of use.
  await store.write(`${SCOPE}/memory-0.md`, "x");
  for (let index = 0; index < files; index += 1) {
    const header = `---\ndescription: "What is in memory ${index}"\n---\n`;
    await writeFile(join(folder, `memory-${index}.md`), header + textOf(index, bytes - header.length));
  }
  return { store, folder };
}

/** Text as notes have it, in lines, and no two files alike. */
function textOf(seed: number, length: number): string {
  const words = ["the", "user", "likes", "pasta", "without", "much", "garlic", "and", "olives", "on", "fridays"];
  const parts: string[] = [];
  for (let size = 0, index = seed; size < length; index += 1) {
    const word = `${words[(index * 7 + seed) % words.length]}${index % 13 === 12 ? "\n" : " "}`;
    parts.push(word);
    size += word.length;
  }
  return parts.join("").slice(0, length);
}

async function begin(provider: FileMemoryProvider): Promise<Run> {
  const session = new AgentSession({ sessionId: "bench", owner: null });
  const run = new Run({ runId: "run", session, ephemeral: false, serviceManaged: false, input: [] });
  await provider.beforeRun(new RunContext(run, provider));
  return run;
}

function linesOf(run: Run): number {
  const [message] = run.modelInput();
  const [content] = message?.contents ?? [];
  return content?.type === "text" ? content.text.split("\n- ").length - 1 : 0;
}

function toolOf(run: Run, name: string): (args: unknown) => unknown {
  const tools = run.tools.flatMap((source): readonly Tool[] => (typeof source === "function" ? source() : source));
  const tool = tools.find((one) => one.name === name);
  const { session } = run.options;
  const context = { runId: "run", callId: "call", idempotencyKey: "key", session, owner: null, signal: run.signal };
  return (args) => tool?.execute?.(args, context);
}

/** What one would write by hand: read the whole folder in every run. */
async function readAll(folder: string): Promise<string[]> {
  return Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")));
}

/** What one would write by hand: every line of every file, on the platform's own engine. */
async function rawGrep(folder: string): Promise<number> {
  const expression = new RegExp(PATTERN, "iu");
  let found = 0;
  for (const name of await readdir(folder)) {
    const lines = (await readFile(join(folder, name), "utf8")).split("\n");
    found += lines.filter((line) => expression.test(line)).length;
  }
  return found;
}

/** What one would write by hand to survive a power cut: a new file, synced, in the place of the old one. */
async function rawWrite(folder: string, text: string): Promise<void> {
  const temporary = join(folder, randomUUID());
  const handle = await open(temporary, "wx");
  try {
    await handle.write(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, join(folder, "memory.md"));
  const parent = await open(folder, "r");
  try {
    await parent.sync();
  } finally {
    await parent.close();
  }
}

/** A measurement of something that does nothing would be worse than none. */
function expectCount(count: number, expected: number, what: string): void {
  if (count !== expected) {
    throw new BenchmarkError(`${count} ${what} in place of ${expected}`);
  }
}
