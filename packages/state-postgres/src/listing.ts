import type { StateKey } from "@agentfw/core";
import { unescapeText } from "@agentfw/core/backend";
import type { Row } from "./connection.ts";
import { errors } from "./errors.ts";
import { tagsOf } from "./reading.ts";

/** The page that the rows hold: one more than the limit means that there are more. */
export function pageOf(rows: readonly Row[], limit: number): { keys: StateKey[]; cursor?: string } {
  const keys = rows.slice(0, limit).map(stateKeyOf);
  const last = rows[limit - 1]?.[0];
  return rows.length > limit && last !== undefined ? { keys, cursor: String(last) } : { keys };
}

function stateKeyOf([, key, etag, text]: Row): StateKey {
  const tags = tagsOf(text);
  if (tags === undefined) {
    throw errors.corrupt("listKeys: the tags of an item cannot be read", "tags");
  }
  return { key: unescapeText(String(key)), etag: String(etag), tags };
}
