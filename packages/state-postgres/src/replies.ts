import type { Answer } from "./connection.ts";
import { errors } from "./errors.ts";

/** Returns when the put function stored the item. @throws `conflict`; `outcome_unknown` where that may be its own doing. */
export function assertStored(operation: "create" | "set", answer: Answer): void {
  const [outcome, current] = wordsOf(answer);
  if (outcome === "stored") {
    return;
  }
  assertCertain(operation, answer);
  if (outcome !== "conflict") {
    throw errors.unexpectedAnswer(operation);
  }
  const message = operation === "create" ? "an item with this key exists" : "the etag does not match";
  throw errors.conflict(`${operation}: ${message}`, current);
}

/**
 * Whether the remove function deleted the item.
 *
 * @param isConditional Whether an etag had to match. @throws `conflict` then; `outcome_unknown` where that may be its own doing.
 */
export function deletedOf(isConditional: boolean, answer: Answer): boolean {
  const [outcome, etag] = wordsOf(answer);
  if (outcome === "deleted") {
    return true;
  }
  assertCertain("delete", answer);
  if (outcome !== "absent" && outcome !== "conflict") {
    throw errors.unexpectedAnswer("delete");
  }
  if (isConditional) {
    throw errors.conflict("delete: the etag does not match", etag);
  }
  return false;
}

/** How many items a batch deleted. */
export function removedOf(operation: string, answer: Answer): { items: number } {
  const items = Number(wordsOf(answer)[0]);
  if (!Number.isSafeInteger(items)) {
    throw errors.unexpectedAnswer(operation);
  }
  return { items };
}

/** A refusal says nothing when the call may have been carried out before: by then it may have been its own doing. */
function assertCertain(operation: string, { isRepetition }: Answer): void {
  if (isRepetition) {
    throw errors.outcomeUnknown(operation, "the connection ended before the answer came");
  }
}

/** The words of a function's answer; one that is empty is not there. */
function wordsOf({ reply }: Answer): (string | undefined)[] {
  return String(reply[0]?.[0] ?? "")
    .split(" ")
    .map((word) => (word === "" ? undefined : word));
}
