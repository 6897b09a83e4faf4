import { createHash, randomBytes } from "node:crypto";
import type { HistoryRecord } from "@agentfw/core";

/*
 * A record is stored as `stamp|id|data`. The stamp is there only in the last record of each write: the newest record's
 * stamp is the version of the conversation, so reading the end of the list reads the version too. A conversation whose
 * records were all replaced by nothing, or that keeps none, holds one element `stamp||`, because Redis has no empty lists.
 */

const STAMP = /^[0-9a-z]+-[0-9a-f]+$/;
const STAMPED = /^[0-9a-z]+-[0-9a-f]+\|/;
const BAR = 0x7c;
const LATEST_DATE = 8.64e15;
/** Surrogates mostly come in pairs, which need nothing. */
const ESCAPING = /[%|\ud800-\udfff]/;
const ESCAPABLE = /[%|]|\p{Cs}/gu;
const ESCAPED = /%(?:u([0-9a-f]{4})|(25|7C))/g;

/** 32 random bits and a count make stamps different that are made in one millisecond, here or elsewhere. */
const MOST_COUNT = 0xffff;
let series = "";
let count = MOST_COUNT;
let [latestTime, latestTimeText] = [0, "0"];

/** A version that never comes back: the time of the write, which `list` shows, and 48 bits that nobody else has. */
export function newStamp(now: number): string {
  if (now !== latestTime) {
    [latestTime, latestTimeText] = [now, now.toString(36)];
  }
  count += 1;
  if (count > MOST_COUNT) {
    [series, count] = [randomBytes(4).toString("hex"), 0];
  }
  return `${latestTimeText}-${series}${count.toString(16).padStart(4, "0")}`;
}

/** When a stamp was made, in milliseconds since the epoch; undefined for what is no stamp. */
export function stampTime(stamp: string): number | undefined {
  const time = STAMP.test(stamp) ? Number.parseInt(stamp, 36) : Number.NaN;
  return time <= LATEST_DATE ? time : undefined;
}

/** An id without the delimiter and without what UTF-8 cannot hold; different for any two ids. */
export function encodeId(id: string): string {
  return ESCAPING.test(id)
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

/** Adds records, as they are stored, to a list. */
export function pushElements(list: string[], records: readonly HistoryRecord[], stamp: string): void {
  const length = list.length + records.length;
  for (const { id, data } of records) {
    list.push(`${list.length + 1 === length ? stamp : ""}|${encodeId(id)}|${data}`);
  }
}

/** What an element of the list is: a record, the placeholder of an empty conversation, or neither. */
export type StoredElement = HistoryRecord | "placeholder" | "unreadable";

/** Takes a stored element apart. */
export function decodeElement(text: string): StoredElement {
  const isStamped = text.charCodeAt(0) !== BAR;
  const first = isStamped ? text.indexOf("|") : 0;
  const second = text.indexOf("|", first + 1);
  if (second < 0 || (isStamped && !STAMPED.test(text))) {
    return "unreadable";
  }
  if (second === first + 1 || second === text.length - 1) {
    return second === first + 1 && second === text.length - 1 ? "placeholder" : "unreadable";
  }
  return { id: decodeId(text.slice(first + 1, second)), data: text.slice(second + 1) };
}

/** True for the element that stands for a conversation without records. */
export function isPlaceholder(text: string): boolean {
  return text.endsWith("||") && decodeElement(text) === "placeholder";
}

/** The version that the newest element stands for; the scripts have the same rule. */
export function versionOf(newest: string): string {
  return STAMPED.test(newest)
    ? newest.slice(0, newest.indexOf("|"))
    : `~${createHash("sha1").update(newest).digest("hex")}`;
}
