import { configurationError } from "@agentfw/core";

/** Where a page of a list ended: the service's own marker, and the conversation whose further segments may follow. */
export interface ListCursor {
  readonly marker: string;
  readonly directory: string;
}

/** A cursor as callers get it. */
export function encodeListCursor({ marker, directory }: ListCursor): string {
  return Buffer.from(`${marker}\n${directory}`).toString("base64url");
}

/**
 * Takes a cursor apart. `begin` is what the names of all blobs begin with that are asked for.
 *
 * @throws `configuration` for what was never a cursor, or was one of other conversations
 */
export function parseListCursor(text: string, begin: string): ListCursor {
  const [marker = "", directory = ""] = Buffer.from(text, "base64url").toString().split("\n");
  const isOne = marker !== "" && encodeListCursor({ marker, directory }) === text;
  // A page may end before the first conversation.
  if (!isOne || (directory !== "" && !directory.startsWith(begin))) {
    throw configurationError("cursor", "must be a cursor that list gave for this owner and source");
  }
  return { marker, directory };
}
