import { AgentFrameworkError, type StateItem, type StateKey, type Tags } from "@agentfw/core";
import { isObjectText } from "@agentfw/core/backend";
import type { Answer } from "./calls.ts";
import { corruptError } from "./corrupt-error.ts";
import { conflictError } from "./errors.ts";
import { nameOf } from "./names.ts";
import { PROVIDER } from "./provider.ts";

/** What `get` found. @throws `corrupt` */
export function itemOf({ parts }: Answer, key: string): StateItem | undefined {
  const [status, etag, tagLines, text] = parts;
  if (status !== "item" || etag === undefined || text === undefined) {
    return undefined;
  }
  const tags = tagsOf(tagLines ?? "");
  if (tags === undefined || !isObjectText(text)) {
    throw corruptError("get", tags === undefined ? "entry" : "value");
  }
  return { key, text, etag, tags };
}

/** What became of a write under this etag. @throws `conflict` with the etag that is there, or `outcome_unknown`. */
export function putOf(answer: Answer, operation: "create" | "set", etag: string): { etag: string } {
  const [status, current] = answer.parts;
  if (status === "ok") {
    return { etag };
  }
  assertCertain(operation, answer);
  const message = operation === "create" ? "an item with this key exists" : "the etag does not match";
  throw conflictError(`${operation}: ${message}`, current);
}

/** Whether something was deleted. @throws `conflict` with the etag that is there, or `outcome_unknown`. */
export function deletedOf(answer: Answer, ifMatch: string | undefined): boolean {
  const [status, etag] = answer.parts;
  if (status === "deleted") {
    return true;
  }
  assertCertain("delete", answer);
  if (ifMatch !== undefined) {
    throw conflictError("delete: the etag does not match", etag);
  }
  return false;
}

/** A page of a listing, and where the next one begins; nothing when there is none. @throws `corrupt` */
export function pageOf({ parts }: Answer): { keys: StateKey[]; last: string } {
  const keys: StateKey[] = [];
  for (let index = 2; index + 2 < parts.length; index += 3) {
    const [name = "", etag = "", lines = ""] = parts.slice(index, index + 3);
    const tags = tagsOf(lines);
    if (tags === undefined) {
      throw corruptError("listKeys", "entry");
    }
    keys.push({ key: nameOf(name), etag, tags });
  }
  return { keys, last: parts[1] ?? "" };
}

/** A refusal says nothing when the call may have been sent twice: the first time may have been carried out. */
function assertCertain(operation: string, { isRepetition }: Answer): void {
  if (isRepetition) {
    throw new AgentFrameworkError("outcome_unknown", `${operation}: the connection ended before the answer came`, {
      provider: PROVIDER,
    });
  }
}

/** The tags that `storedTags` made these lines of, or nothing when it did not. */
export function tagsOf(lines: string): Tags | undefined {
  try {
    const pairs: unknown[] = lines
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    return pairs.every(isPair) ? Object.freeze(Object.fromEntries(pairs)) : undefined;
  } catch {
    return undefined;
  }
}

function isPair(value: unknown): value is [name: string, value: string] {
  return Array.isArray(value) && typeof value[0] === "string" && typeof value[1] === "string";
}
