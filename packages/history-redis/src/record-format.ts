import { randomBytes } from "node:crypto";
import type { HistoryRecord } from "@agentfw/core";

/*
 * A record is stored as `stamp|id|data`. The stamp is there only in the last record of each write: the newest record's
 * stamp is the version of the conversation, so reading the end of the list reads the version too. A conversation whose
 * records were all replaced by nothing, or that keeps none, holds one element `stamp||`, because Redis has no empty lists.
 */

/** Surrogates mostly come in pairs, which need nothing. */
const ESCAPING = /[%|\ud800-\udfff]/;
const ESCAPABLE = /[%|]|\p{Cs}/gu;

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

/** An id without the delimiter and without what UTF-8 cannot hold; different for any two ids. */
export function encodeId(id: string): string {
  return ESCAPING.test(id)
    ? id.replace(ESCAPABLE, (one) => {
        const code = one.charCodeAt(0);
        return code > 0x7f ? `%u${code.toString(16)}` : `%${code.toString(16).toUpperCase()}`;
      })
    : id;
}

/** Adds records, as they are stored, to a list. */
export function pushElements(list: string[], records: readonly HistoryRecord[], stamp: string): void {
  const length = list.length + records.length;
  for (const { id, data } of records) {
    list.push(`${list.length + 1 === length ? stamp : ""}|${encodeId(id)}|${data}`);
  }
}
