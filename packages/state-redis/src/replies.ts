import type { StateItem, StateKey, Tags } from "@agentfw/core";
import { assertTags, isObjectText, ServerProblem } from "@agentfw/core/backend";

/** What `get` found. @throws `corrupt` */
export function itemOf(reply: unknown, key: string): StateItem | undefined {
  const [status, etag, tagLines, text] = readPartsOf(reply);
  if (status !== "item" || etag === undefined || text === undefined) {
    return undefined;
  }
  const tags = tagsOf(tagLines);
  if (!isObjectText(text)) {
    throw corruptProblem("value");
  }
  return { key, text, etag, tags };
}

/** A page of a listing, and where the next one begins; nothing when there is none. @throws `corrupt` */
export function pageOf(reply: unknown): { keys: StateKey[]; last: string } {
  const [, last = "", ...parts] = readPartsOf(reply);
  const keys: StateKey[] = [];
  for (let index = 0; index < parts.length; index += 3) {
    const [name = "", etag = "", tagLines] = parts.slice(index);
    keys.push({ key: nameOf(name), etag, tags: tagsOf(tagLines) });
  }
  return { keys, last };
}

/**
 * Whether a write did anything. A refusal says nothing when the call may have been sent twice: the first time may have been
 * carried out.
 *
 * @throws `conflict` with the etag that is there, `corrupt`, `outcome_unknown`
 */
export function wasWritten(reply: unknown, isCreate: boolean, isRepetition: boolean): boolean {
  const [status, detail] = textsOf(reply);
  if (status === "done") {
    return true;
  }
  if (isRepetition) {
    throw new ServerProblem("outcome_unknown", "the connection ended before the answer came");
  }
  if (status === "conflict") {
    const reason = isCreate ? "an item with this key exists" : "the etag does not match";
    throw new ServerProblem("conflict", reason, { currentVersion: detail });
  }
  readPartsOf(reply);
  return false;
}

/** The name that `storedName` made this text of. */
export function nameOf(stored: string): string {
  return stored.replace(/~([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** The tags that `storedTags` made these lines of. @throws `corrupt` */
export function tagsOf(lines = ""): Tags {
  try {
    const tags = Object.fromEntries(
      lines
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    );
    assertTags(tags);
    return Object.freeze(tags);
  } catch {
    throw corruptProblem("entry");
  }
}

/** What a script gave that reads. @throws `corrupt` with what the script says that it cannot read. */
function readPartsOf(reply: unknown): readonly string[] {
  const parts = textsOf(reply);
  if (parts[0] === "corrupt") {
    throw corruptProblem(parts[1] ?? "entry");
  }
  return parts;
}

/** The answers of scripts are lists of texts. @throws `unsupported` */
function textsOf(reply: unknown): readonly string[] {
  if (!Array.isArray(reply) || !reply.every((part) => typeof part === "string")) {
    throw new ServerProblem("unsupported", "client: it must give the answers of scripts as lists of texts");
  }
  return reply;
}

/** Stored data that cannot be read, or that contradicts other stored data. It was left as it is. */
function corruptProblem(position: string): ServerProblem {
  const what = position === "index" ? "the owner's index is not whole" : `the ${position} of an item cannot be read`;
  return new ServerProblem("corrupt", what, { position });
}
