import { createHash } from "node:crypto";
import type { HistoryRecord } from "@agentfw/core";

const STAMPED = /^[0-9a-z]+-[0-9a-f]+\|/;
const BAR = 0x7c;
const LATEST_DATE = 8.64e15;
const ESCAPED = /%(?:u([0-9a-f]{4})|(25|7C))/g;

/** When a stamp was made, in milliseconds since the epoch; undefined for a version that is no stamp. */
export function stampTime(version: string): number | undefined {
  const time = Number.parseInt(version, 36);
  return time <= LATEST_DATE ? time : undefined;
}

/** The id that `encodeId` was given. */
export function decodeId(text: string): string {
  return text.includes("%")
    ? text.replace(ESCAPED, (_, unit?: string, byte?: string) =>
        String.fromCharCode(Number.parseInt(unit ?? byte ?? "", 16)),
      )
    : text;
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

/** The version that the newest element stands for; the scripts have the same rule. */
export function versionOf(newest: string): string {
  return STAMPED.test(newest)
    ? newest.slice(0, newest.indexOf("|"))
    : `~${createHash("sha1").update(newest).digest("hex")}`;
}
