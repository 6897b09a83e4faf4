import { configurationError } from "@agentfw/core";
import { ServerProblem } from "@agentfw/core/backend";
import type { Appended } from "./appending.ts";
import { corruptProblem, listOf, textOf, unexpectedAnswer } from "./replies.ts";

/** What the append script said. @throws `conflict` with the current version. */
export function appendedOf(reply: unknown, stamp: string): Appended {
  if (typeof reply === "number" && reply > 0) {
    return { version: stamp, appended: reply };
  }
  const text = textOf(reply);
  if (text.startsWith("!")) {
    throw cameFirst(text.slice(1));
  }
  if (text.startsWith("=")) {
    return { version: text.slice(1), appended: 0 };
  }
  // A client may be set to give numbers as texts.
  if (!/^[1-9]\d*$/.test(text)) {
    throw unexpectedAnswer();
  }
  return { version: stamp, appended: Number(text) };
}

/** What the replace script said. @throws `conflict`, `corrupt`, or `configuration` for ids and ranges that cannot be. */
export function replacedOf(reply: unknown, key: string): { version: string } {
  const [outcome, detail = ""] = listOf(reply).map(textOf);
  switch (outcome) {
    case "ok":
      return { version: detail };
    case "conflict":
      throw cameFirst(detail);
    case "from":
    case "through":
      throw new ServerProblem("conflict", `range.${outcome}Id: the record is no longer stored`, {
        currentVersion: detail,
      });
    case "order":
      throw configurationError("range", "fromId must not come after throughId");
    case "stored":
      throw configurationError(`records[${detail}].id`, "is stored outside of the range");
    case "unreadable":
      throw corruptProblem("the record that would carry the new version", key);
    default:
      throw unexpectedAnswer();
  }
}

function cameFirst(currentVersion: string): ServerProblem {
  return new ServerProblem("conflict", "another writer came first", { currentVersion });
}
