import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  configurationError,
  type HistoryKeyInfo,
  type HistoryList,
  type HistoryListFilter,
  type HistoryListOptions,
  historyKeyText,
} from "@agentfw/core";
import { type CallProgress, parseHistoryKeyText } from "@agentfw/core/backend";
import { BackwardLines } from "./backward-lines.ts";
import type { Directories } from "./directories.ts";
import { close, fstat, open, READ_ONLY, unless } from "./file-calls.ts";
import {
  type ConversationPath,
  conversationPath,
  encodeName,
  isConversationFile,
  isPartition,
  ownerDirectory,
} from "./file-names.ts";
import { readHeader } from "./header.ts";

/** So many headers are read at once. */
const PARALLEL = 8;
const END_BYTES = 512;

/** Which conversations to list, and from where on. */
export interface Listing extends HistoryListOptions {
  readonly filter: HistoryListFilter;
  readonly limit: number;
  readonly progress: CallProgress;
}

/**
 * Lists conversations in the order of their paths. Reads the names in the directories that the filter leaves, and of
 * the files on the page the first and the last bytes, never the records.
 *
 * @throws `corrupt` or `unsupported` for a file that cannot be read: a list without it would look whole.
 */
export async function listConversations(directories: Directories, listing: Listing): Promise<HistoryList> {
  const { limit, progress } = listing;
  const found: HistoryKeyInfo[] = [];
  let chunk: ConversationPath[] = [];
  const describeChunk = async () => {
    progress.assertWanted();
    const infos = await Promise.all(chunk.map((path) => describe(directories.root, path)));
    found.push(...infos.filter((info) => info !== undefined));
    chunk = [];
  };
  for await (const path of pathsOf(directories, listing)) {
    chunk.push(path);
    if (chunk.length >= Math.min(PARALLEL, limit + 1 - found.length)) {
      await describeChunk();
      if (found.length > limit) {
        break;
      }
    }
  }
  await describeChunk();
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return found.length > limit && last !== undefined ? { items, cursor: historyKeyText(last.key) } : { items };
}

async function* pathsOf(directories: Directories, { filter, cursor }: Listing): AsyncGenerator<ConversationPath> {
  const [afterOwner, afterSource, afterFile] = parseCursor(cursor);
  const { root } = directories;
  const owners = "owner" in filter ? [ownerDirectory(filter.owner)] : await namesIn(root, isOfPartition);
  for (const owner of owners.filter((name) => name >= afterOwner)) {
    await directories.assertPlain([owner]);
    const sources =
      filter.source === undefined ? await namesIn(join(root, owner), isOfPartition) : [encodeName(filter.source)];
    for (const source of sources.filter((name) => owner > afterOwner || name >= afterSource)) {
      await directories.assertPlain([owner, source]);
      const isBehind = owner > afterOwner || source > afterSource;
      for (const file of await namesIn(join(root, owner, source), isOfConversation)) {
        if (isBehind || file > afterFile) {
          yield [owner, source, file];
        }
      }
    }
  }
}

/** The names of a directory that are wanted, sorted; none where it is gone. */
async function namesIn(path: string, isWanted: (entry: Dirent) => boolean): Promise<string[]> {
  const entries = (await unless(["ENOENT"], readdir(path, { withFileTypes: true }))) ?? [];
  return entries
    .filter(isWanted)
    .map(({ name }) => name)
    .sort();
}

function isOfPartition(entry: Dirent): boolean {
  return entry.isDirectory() && isPartition(entry.name);
}

function isOfConversation(entry: Dirent): boolean {
  return entry.isFile() && isConversationFile(entry.name);
}

/** Undefined for a file that was removed meanwhile, or in which no turn was ever completed. */
async function describe(root: string, path: ConversationPath): Promise<HistoryKeyInfo | undefined> {
  const file = join(root, ...path);
  const descriptor = await unless(["ENOENT"], open(file, READ_ONLY));
  if (descriptor === undefined) {
    return undefined;
  }
  try {
    const status = await fstat(descriptor);
    const size = Number(status.size);
    const found = await readHeader(descriptor, size, root, file);
    if (found === undefined) {
      return undefined;
    }
    const { header, headerEnd } = found;
    const lines = await BackwardLines.fromLast(descriptor, headerEnd, size, END_BYTES);
    return lines.isAtFloor ? undefined : { key: header.key, updatedAt: new Date(Number(status.mtimeMs)).toISOString() };
  } finally {
    await close(descriptor);
  }
}

/** A cursor is a key, so it says nothing about where files are and leads nowhere when it is made up. */
function parseCursor(cursor: string | undefined): ConversationPath {
  if (cursor === undefined) {
    return ["", "", ""];
  }
  const key = parseHistoryKeyText(cursor);
  if (key === undefined) {
    throw configurationError("cursor", "must be one that list gave");
  }
  return conversationPath(key);
}
