import type { HistoryKey, HistoryKeyInfo, HistoryList } from "@agentfw/core";
import { parseHistoryKeyText } from "@agentfw/core/backend";
import { encodeListCursor, type ListCursor } from "./list-cursor.ts";
import { parseBlobName } from "./names.ts";
import { metadataOf } from "./segment.ts";
import type { Service } from "./service.ts";
import type { SteppedCall } from "./stepped-call.ts";

/** Which part of the listing is asked for. */
export interface ListRange {
  readonly prefix: string;
  /** What the names of all blobs begin with that are asked for. */
  readonly begin: string;
  readonly limit: number;
  readonly cursor: ListCursor | undefined;
}

/** What is listed, and from where on. */
export interface ListTask extends ListRange {
  readonly source: string | undefined;
}

/** A conversation as its newest blob tells it. */
export interface ListedConversation {
  readonly directory: string;
  readonly key: HistoryKey | undefined;
  readonly updatedAt: Date;
  /** True for one that somebody was about to begin. */
  readonly isUnused: boolean;
}

/** One page. Without a cursor it is the last one. */
export interface ListedPage {
  readonly items: readonly ListedConversation[];
  readonly cursor: ListCursor | undefined;
}

/** One call asks for so many pages at most. */
const MOST_REQUESTS = 20;

/** A page of conversations: it may hold fewer than the limit, or none, and still have a cursor. */
export async function listConversations(call: SteppedCall, service: Service, task: ListTask): Promise<HistoryList> {
  const { source, limit } = task;
  const items: HistoryKeyInfo[] = [];
  let { cursor } = task;
  let requests = 0;
  do {
    requests += 1;
    const page = await nextPage(call, service, { ...task, cursor, limit: limit - items.length });
    for (const { key, updatedAt, isUnused } of page.items) {
      if (!isUnused && key !== undefined && (source === undefined || key.source === source)) {
        items.push({ key, updatedAt: updatedAt.toISOString() });
      }
    }
    cursor = page.cursor;
    // Among many blobs that are not asked for, a call must come back with how far it got.
  } while (cursor !== undefined && items.length < limit && requests < MOST_REQUESTS);
  return cursor === undefined ? { items } : { items, cursor: encodeListCursor(cursor) };
}

/** As many conversations as one page of the service's holds: never more than the limit, and perhaps none. */
export async function nextPage(
  call: SteppedCall,
  service: Service,
  { prefix, begin, cursor, limit }: ListRange,
): Promise<ListedPage> {
  const { items: blobs, marker } = await service.list(call, begin, Math.min(limit, 1_000), cursor?.marker);
  const items: ListedConversation[] = [];
  let directory = cursor?.directory ?? "";
  for (const { name, properties, metadata } of blobs) {
    const place = parseBlobName(prefix, name);
    // The newest segment comes first; the others are behind it.
    if (place !== undefined && place.directory !== directory) {
      directory = place.directory;
      const fields = metadataOf(metadata);
      const key = place.key ?? parseHistoryKeyText(Buffer.from(fields.get("names") ?? "", "base64").toString());
      const isUnused = properties.contentLength === 0 && Number(fields.get("first")) === place.segment;
      items.push({ directory, key, updatedAt: properties.lastModified, isUnused });
    }
  }
  return { items, cursor: marker === undefined ? undefined : { marker, directory } };
}
