import type { HistoryKey, HistoryKeyInfo, HistoryList, HistoryListFilter } from "@agentfw/core";
import { configurationError } from "@agentfw/core";
import type { Call } from "./call.ts";
import type { BlobListItem } from "./client.ts";
import { ownerDirectory, parseBlobName, parseNames } from "./names.ts";
import { metadataOf } from "./segment.ts";
import type { Service } from "./service.ts";

/** What is listed, and from where on. */
export interface ListTask {
  readonly prefix: string;
  readonly filter: HistoryListFilter;
  readonly limit: number;
  readonly cursor: ListCursor | undefined;
}

/** Where a page ended: the service's own marker, and the conversation whose further segments may follow. */
export interface ListCursor {
  readonly marker: string;
  readonly directory: string;
}

/** A conversation as its newest blob tells it. */
export interface ListedConversation {
  readonly directory: string;
  readonly key: HistoryKey | undefined;
  readonly updatedAt: Date;
  /** True for one that somebody was about to begin. */
  readonly isUnused: boolean;
}

/** One call asks for so many pages at most. */
const MOST_REQUESTS = 20;

/** Takes a cursor apart. @throws `configuration` for what was never one, or was one of other conversations */
export function parseListCursor(text: unknown, { prefix, filter }: Pick<ListTask, "prefix" | "filter">): ListCursor {
  const parts =
    typeof text === "string" && /^[\w-]+$/.test(text) ? Buffer.from(text, "base64url").toString("utf8") : "";
  const [marker, directory, ...more] = parts.split("\n");
  if (marker === undefined || directory === undefined || marker === "" || more.length > 0) {
    throw configurationError("cursor", "must be a cursor that list gave");
  }
  if (directory !== "" && !directory.startsWith(beginOf(prefix, filter))) {
    throw configurationError("cursor", "must be a cursor that list gave for this owner and source");
  }
  return { marker, directory };
}

/** What the names of all blobs that are asked for begin with. */
function beginOf(prefix: string, filter: HistoryListFilter): string {
  return "allOwners" in filter ? `${prefix}/` : ownerDirectory(prefix, filter.owner, filter.source);
}

/** A page of conversations: it may hold fewer than the limit, or none, and still have a cursor. */
export async function listConversations(call: Call, service: Service, task: ListTask): Promise<HistoryList> {
  const { source } = task.filter;
  const items: HistoryKeyInfo[] = [];
  let { cursor } = task;
  let requests = 0;
  do {
    requests += 1;
    const page = await nextPage(call, service, task, { cursor, limit: task.limit - items.length });
    for (const { key, updatedAt, isUnused } of page.conversations) {
      if (!isUnused && key !== undefined && (source === undefined || key.source === source)) {
        items.push({ key, updatedAt: updatedAt.toISOString() });
      }
    }
    cursor = page.cursor;
    // Among many blobs that are not asked for, a call must come back with how far it got.
  } while (cursor !== undefined && items.length < task.limit && requests < MOST_REQUESTS);
  return cursor === undefined ? { items } : { items, cursor: encodeCursor(cursor) };
}

/** As many conversations as one page of the service's holds: never more than the limit, and perhaps none. */
export async function nextPage(
  call: Call,
  service: Service,
  { prefix, filter }: Pick<ListTask, "prefix" | "filter">,
  { cursor, limit }: { readonly cursor: ListCursor | undefined; readonly limit: number },
): Promise<{ conversations: ListedConversation[]; cursor: ListCursor | undefined }> {
  const begin = beginOf(prefix, filter);
  const page = await service.list(call, { prefix: begin, limit: Math.min(limit, 1_000), marker: cursor?.marker });
  const conversations: ListedConversation[] = [];
  let directory = cursor?.directory ?? "";
  for (const item of page.segment.blobItems) {
    const place = parseBlobName(prefix, item.name);
    // The newest segment comes first; the others are behind it.
    if (place !== undefined && place.directory !== directory) {
      directory = place.directory;
      const { properties, metadata } = item;
      const isUnused = properties.contentLength === 0 && Number(metadataOf(metadata).get("first")) === place.segment;
      conversations.push({ directory, key: place.key ?? namesOf(item), updatedAt: properties.lastModified, isUnused });
    }
  }
  const marker = page.continuationToken ?? "";
  return { conversations, cursor: marker === "" ? undefined : { marker, directory } };
}

function namesOf({ metadata }: BlobListItem): HistoryKey | undefined {
  const names = metadataOf(metadata).get("names");
  return names === undefined ? undefined : parseNames(names);
}

function encodeCursor({ marker, directory }: ListCursor): string {
  return Buffer.from(`${marker}\n${directory}`).toString("base64url");
}
