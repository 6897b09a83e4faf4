import { createHash, randomUUID } from "node:crypto";
import type { HistoryRecord } from "@agentfw/core";

/*
 * A record is stored as `stamp|id|data`. The stamp is there only in the last record of each write: the newest record's
 * stamp is the version of the conversation, so reading the end of the list reads the version too. A conversation whose
 * records were all replaced by nothing holds one element `stamp||`, because Redis has no empty lists.
 */

const STAMP = /^[0-9a-z]+-[0-9a-f]+$/;
const LATEST_DATE = 8.64e15;
const NEEDS_ESCAPE = /[%|]|\p{Cs}/u;
const ESCAPABLE = /[%|]|\p{Cs}/gu;
const ESCAPED = /%(?:u([0-9a-f]{4})|(25|7C))/g;

/** A version that never comes back: the time of the write, which `list` shows, and 48 random bits. */
export function newStamp(now: number): string {
  return `${now.toString(36)}-${randomUUID().slice(24)}`;
}

/** When a stamp was made, in milliseconds since the epoch; undefined for what is no stamp. */
export function stampTime(stamp: string): number | undefined {
  const time = STAMP.test(stamp) ? Number.parseInt(stamp, 36) : Number.NaN;
  return time <= LATEST_DATE ? time : undefined;
}

/** An id without the delimiter and without what UTF-8 cannot hold; different for any two ids. */
export function encodeId(id: string): string {
  return NEEDS_ESCAPE.test(id)
    ? id.replace(ESCAPABLE, (one) => {
        const code = one.charCodeAt(0);
        return code > 0x7f ? `%u${code.toString(16)}` : `%${code.toString(16).toUpperCase()}`;
      })
    : id;
}

/** The id that {@link encodeId} was given. */
export function decodeId(text: string): string {
  return text.includes("%")
    ? text.replace(ESCAPED, (_, unit?: string, byte?: string) =>
        String.fromCharCode(Number.parseInt(unit ?? byte ?? "", 16)),
      )
    : text;
}

/** Records as they are stored. The ids come first, then the elements, as the scripts take them. */
export function encodeRecords(records: readonly HistoryRecord[], stamp: string): string[] {
  const ids = records.map(({ id }) => encodeId(id));
  const last = records.length - 1;
  const elements = records.map(({ data }, index) => `${index === last ? stamp : ""}|${ids[index]}|${data}`);
  return [...ids, ...elements];
}

/** What an element of the list is: a record, the placeholder of an empty conversation, or neither. */
export type StoredElement = { readonly record: HistoryRecord } | "placeholder" | "unreadable";

/** Takes a stored element apart. */
export function decodeElement(text: string): StoredElement {
  const first = text.indexOf("|");
  const second = text.indexOf("|", first + 1);
  if (first < 0 || second < 0 || (first > 0 && !STAMP.test(text.slice(0, first)))) {
    return "unreadable";
  }
  const id = text.slice(first + 1, second);
  const data = text.slice(second + 1);
  if (id === "" || data === "") {
    return id === data ? "placeholder" : "unreadable";
  }
  return { record: { id: decodeId(id), data } };
}

/** The version that the newest element stands for; the scripts have the same rule. */
export function versionOf(newest: string): string {
  const stamp = newest.slice(0, Math.max(0, newest.indexOf("|")));
  return STAMP.test(stamp) ? stamp : `~${createHash("sha1").update(newest).digest("hex")}`;
}
