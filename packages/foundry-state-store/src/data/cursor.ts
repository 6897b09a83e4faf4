import type { Position } from "./partition.ts";

/** Gives each cursor a `/`, a `+` and a `=`, at today's length of a time. */
const ENDING = "?-->-";

/**
 * Cursors name a place in the order of creation, so they hold when the item that they were made at is deleted. The text
 * has a space and whatever base64 has, so that a client which does not pass it on unchanged is found out.
 */
export function encodeCursor({ createdAt, id }: Position): string {
  return `at ${Buffer.from(`${createdAt} ${id}${ENDING}`, "latin1").toString("base64")}`;
}

/** The place that a cursor names: one of ours, or the id of an item, which published guides page by. */
export function decodeCursor(cursor: string, positionOf: (id: string) => Position | undefined): Position | undefined {
  if (!cursor.startsWith("at ")) {
    return positionOf(cursor);
  }
  const [, createdAt, id] =
    /^(\d{1,12}) ([a-z]{2}_[0-9a-f]{24})\?-->-$/.exec(Buffer.from(cursor.slice(3), "base64").toString("latin1")) ?? [];
  return createdAt === undefined || id === undefined ? undefined : { createdAt: Number(createdAt), id };
}
