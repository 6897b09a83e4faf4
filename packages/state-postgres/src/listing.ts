import { assertCount, configurationError, type StateKey } from "@agentfw/core";
import type { Row } from "./connection.ts";
import { corruptError } from "./errors.ts";
import { decodeText } from "./keys.ts";
import { tagsOf } from "./state-input.ts";

/** Above every position that the server gives. */
const END = 2n ** 63n - 1n;

/** Refuses what no listing can be made by. @throws `configuration` */
export function assertListOptions({
  limit,
  order,
  cursor,
}: Readonly<Record<"limit" | "order" | "cursor", unknown>>): void {
  assertCount(limit, "limit", 1);
  if (order !== "asc" && order !== "desc") {
    throw configurationError("order", 'must be "asc" or "desc"');
  }
  const isPosition = typeof cursor === "string" && /^\d{1,19}$/.test(cursor) && BigInt(cursor) < END;
  if (cursor !== undefined && !isPosition) {
    throw configurationError("cursor", "must come from an earlier page");
  }
}

/** The page that the rows hold: one more than the limit means that there are more. */
export function pageOf(rows: readonly Row[], limit: number): { keys: StateKey[]; cursor?: string } {
  const keys = rows.slice(0, limit).map(stateKeyOf);
  const last = rows[limit - 1]?.[0];
  return rows.length > limit && last !== undefined ? { keys, cursor: String(last) } : { keys };
}

function stateKeyOf([, key, etag, text]: Row): StateKey {
  const tags = tagsOf(text);
  if (tags === undefined) {
    throw corruptError("listKeys", "tags");
  }
  return { key: decodeText(String(key)), etag: String(etag), tags };
}
