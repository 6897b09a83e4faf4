import { configurationError } from "@agentfw/core";
import type { Appended } from "./appending.ts";
import { corruptError } from "./corrupt-error.ts";
import { conflictError } from "./errors.ts";
import { listOf, textOf, unexpectedAnswer } from "./replies.ts";

/** What the append script said. @throws `conflict` with the current version. */
export function appendedOf(reply: unknown, stamp: string): Appended {
  if (typeof reply === "number" && Number.isSafeInteger(reply) && reply > 0) {
    return { version: stamp, appended: reply };
  }
  // A client may be set to give numbers as texts.
  const text = typeof reply === "number" ? String(reply) : textOf(reply);
  const [, sign, rest = ""] = /^([!=]?)(.*)$/s.exec(text) ?? [];
  if (sign === "!") {
    throw conflictError("append: another writer came first", rest);
  }
  if (sign === "=") {
    return { version: rest, appended: 0 };
  }
  const appended = Number(rest);
  if (!Number.isSafeInteger(appended) || appended < 1) {
    throw unexpectedAnswer("append: the server answered something unexpected");
  }
  return { version: stamp, appended };
}

/** What the replace script said. @throws `conflict`, `corrupt`, or `configuration` for ids and ranges that cannot be. */
export function replacedOf(reply: unknown, key: string): { version: string } {
  const [outcome, detail] = listOf(reply).map(textOf);
  switch (outcome) {
    case "ok":
      return { version: detail ?? "" };
    case "conflict":
      throw conflictError("replace: another writer came first", detail);
    case "from":
    case "through":
      throw conflictError(`range.${outcome}Id: the record is no longer stored`, detail);
    case "order":
      throw configurationError("range", "fromId must not come after throughId");
    case "stored":
      throw configurationError(`records[${detail}].id`, "is stored outside of the range");
    case "unreadable":
      throw corruptError("the record that would carry the new version", key);
    default:
      throw unexpectedAnswer("replace: the server answered something unexpected");
  }
}
