import { open, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type AgentSession, HistoryProvider, isPlainObject } from "@agentfw/core";
import { FileHistoryStore } from "@agentfw/history-file";
import { shellQuoted } from "../terminal.ts";
import type { Backend } from "./backend.ts";

/** JSON Lines files below the data folder. */
export const fileBackend: Backend = {
  summary: "JSON Lines files",
  isInSession: false,
  open: async ({ data, onDiagnostic }) => {
    const directory = resolve(data, "history");
    const store = new FileHistoryStore({ directory, onDiagnostic });
    const fileOf = (session: AgentSession) => findFile(directory, session);
    return {
      url: undefined,
      howToKeep: undefined,
      place: directory,
      provider: (policy) => new HistoryProvider(store, { ...policy, onDiagnostic }),
      where: async (session) => (await fileOf(session)) ?? `${directory} (nothing is stored yet)`,
      howToLook: async (session) => {
        const file = await fileOf(session);
        return file === undefined ? [] : [`cat ${shellQuoted(file)}`, `tail -n 1 ${shellQuoted(file)}`];
      },
      howToDelete: () => `rm -r ${shellQuoted(directory)}`,
      clear: (session) => new HistoryProvider(store).conversation(session).clear(),
      close: () => store.close(),
    };
  },
};

/**
 * The file of a conversation: the first line of each names its conversation. Only short lower-case names are file names
 * as they are.
 */
async function findFile(directory: string, session: AgentSession): Promise<string | undefined> {
  const entries = await readdir(directory, { recursive: true }).catch(() => []);
  const files = entries.filter((entry) => entry.endsWith(".jsonl"));
  const likely = files.filter((file) => file.endsWith(`${session.sessionId}.jsonl`));
  for (const file of new Set([...likely, ...files])) {
    const path = join(directory, file);
    const header = await firstLine(path);
    if (header?.["session"] === session.sessionId && header["owner"] === session.owner) {
      return path;
    }
  }
  return undefined;
}

async function firstLine(path: string): Promise<Record<string, unknown> | undefined> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16_384), 0, 16_384, 0);
    const [line = ""] = buffer.toString("utf8", 0, bytesRead).split("\n", 1);
    const header: unknown = JSON.parse(line);
    return isPlainObject(header) ? header : undefined;
  } catch {
    // A file that cannot be read is not the one; the store says so when it is asked for it.
    return undefined;
  } finally {
    await file.close();
  }
}
