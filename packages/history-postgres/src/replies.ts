import { configurationError } from "@agentfw/core";
import type { Answer } from "./connection.ts";
import { errors } from "./errors.ts";

/** What the append function said. @throws `conflict` with the current version. */
export function appendedOf(answer: Answer): { version: string; appended: number } {
  const [outcome, version = "", appended] = wordsOf(answer);
  if (outcome === "conflict") {
    throw errors.conflict("append: another writer came first", version);
  }
  if (outcome !== "stored") {
    throw errors.unexpectedAnswer("append");
  }
  return { version, appended: Number(appended) };
}

/**
 * What the replace function said.
 *
 * @throws `conflict`, or `configuration` for ids and ranges that cannot be; `outcome_unknown` instead of a conflict that
 * may be with the call's own first try.
 */
export function replacedOf(answer: Answer): { version: string } {
  const [outcome, detail = ""] = wordsOf(answer);
  if (outcome === "replaced") {
    return { version: detail };
  }
  if (answer.isRepetition) {
    throw errors.outcomeUnknown("replace", "the answer was lost");
  }
  switch (outcome) {
    case "conflict":
      throw errors.conflict("replace: another writer came first", detail);
    case "from":
    case "through":
      throw errors.conflict(`range.${outcome}Id: the record is no longer stored`, detail);
    case "order":
      throw configurationError("range", "fromId must not come after throughId");
    case "outside":
      throw configurationError(`records[${detail}].id`, "is stored outside of the range");
    default:
      throw errors.unexpectedAnswer("replace");
  }
}

/** How much the deleting functions deleted. */
export function removedOf(operation: string, answer: Answer): { conversations: number; records: number } {
  const [conversations = Number.NaN, records = Number.NaN] = wordsOf(answer).map(Number);
  if (!Number.isSafeInteger(conversations + records)) {
    throw errors.unexpectedAnswer(operation);
  }
  return { conversations, records };
}

function wordsOf({ reply }: Answer): string[] {
  return String(reply[0]?.[0] ?? "").split(" ");
}

/** A value that is text in every answer. @throws `unsupported` */
export function textOf(value: unknown, operation: string): string {
  if (typeof value !== "string") {
    throw errors.unexpectedAnswer(operation);
  }
  return value;
}
