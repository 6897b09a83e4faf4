import { configurationError, type ReadOptions } from "@agentfw/core";
import { BUCKETS, type ConversationKeys } from "./keys.ts";
import { type ScriptCall, scriptCall } from "./script-call.ts";

/** Where an older page ends: before the element `skip` steps in front of the anchor. */
export interface PageCursor {
  /** The anchor's distance from the end of the list when the cursor was made; the newest element has 1. */
  readonly distance: number;
  readonly skip: number;
  /** The anchor's id as it is stored; nothing when no record of the page could be read. */
  readonly id: string;
}

/** The last conversation of the page of `list` before. */
export interface ListCursor {
  readonly bucket: number;
  readonly name: string;
}

/** Takes a cursor apart. @throws `configuration` for a text that was never one. */
export function parsePageCursor(text: string): PageCursor {
  const [, distance, skip, id] = /^(\d{1,15}):(\d{1,15}):(.*)$/s.exec(text) ?? [];
  if (distance === undefined || skip === undefined || id === undefined || Number(distance) === 0) {
    throw configurationError("before", "must be a cursor that read gave");
  }
  return { distance: Number(distance), skip: Number(skip), id };
}

/** Takes a cursor apart. @throws `configuration` for a text that was never one. */
export function parseListCursor(text: string): ListCursor {
  const [, bucket, name] = /^(\d{1,3}):(\[.*\])$/s.exec(text) ?? [];
  if (bucket === undefined || name === undefined || Number(bucket) >= BUCKETS) {
    throw configurationError("cursor", "must be a cursor that list gave");
  }
  return { bucket: Number(bucket), name };
}

/** What to ask for: a bare LRANGE where that will do, because a script costs a fifth more. The options were checked. */
export function readCall(
  { records }: ConversationKeys,
  { last, withFirst }: ReadOptions,
  before: PageCursor | undefined,
): Pick<ScriptCall, "send"> & Partial<ScriptCall> {
  if (before === undefined && withFirst !== true) {
    const start = last === undefined ? 0 : -last - 1;
    return { send: (client) => client.call("lrange", [records, start, -1]) };
  }
  const { distance, skip, id } = before ?? { distance: 0, skip: 0, id: "" };
  const counts = [last ?? 0, distance, skip].map(String);
  return scriptCall("page", [records], [...counts, id, withFirst === true ? "1" : "0"]);
}
