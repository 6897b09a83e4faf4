import { functionDefinition } from "./function-definition.ts";
import type { Names } from "./names.ts";

/** How many items under a tag are counted, to find the rarest of several. */
const COUNTED = 10_000;

/**
 * The function that gives a page of living items behind a position, as rows of `seq`, key, etag and tags. Without tags it
 * walks the owner's items, else those that carry the rarest of the tags; both in the order of creation.
 *
 * It is a function, because its settings keep the planner from fetching and sorting all that an owner has for a page.
 */
export function listFunction(names: Names): string {
  const body = `
DECLARE
  v_rarest uuid := p_tag_keys[1];
BEGIN
  IF cardinality(p_tag_keys) > 1 THEN
    SELECT o.t INTO v_rarest FROM unnest(p_tag_keys) AS o(t) ORDER BY (
      SELECT count(*) FROM (SELECT FROM ${names.tag} AS x WHERE x.t = o.t LIMIT ${COUNTED}) AS c
    ) LIMIT 1;
  END IF;
  IF v_rarest IS NULL AND NOT p_isdescending THEN
    RETURN QUERY ${ofOwner(names, "ASC")};
  ELSIF v_rarest IS NULL THEN
    RETURN QUERY ${ofOwner(names, "DESC")};
  ELSIF NOT p_isdescending THEN
    RETURN QUERY ${tagged(names, "ASC")};
  ELSE
    RETURN QUERY ${tagged(names, "DESC")};
  END IF;
END`;
  const parameters = "p_owner_key uuid, p_tag_keys uuid[], p_isdescending boolean, p_cursor bigint, p_limit bigint";
  return functionDefinition(names.list, parameters, {
    returns: "TABLE (seq text, key text, etag text, tags text)",
    properties: "STABLE SET enable_sort = off SET enable_bitmapscan = off SET enable_seqscan = off",
    body,
  });
}

const COLUMNS = "i.seq::text, i.key, i.etag, i.tags";
const ALIVE = "(i.expires_at IS NULL OR i.expires_at > now())";

function ofOwner(names: Names, order: "ASC" | "DESC"): string {
  return `SELECT ${COLUMNS} FROM ${names.item} AS i
    WHERE i.owner_key = p_owner_key AND i.seq ${behind(order)} AND ${ALIVE}
    ORDER BY i.seq ${order} LIMIT p_limit`;
}

function tagged(names: Names, order: "ASC" | "DESC"): string {
  return `SELECT ${COLUMNS} FROM ${names.tag} AS x JOIN ${names.item} AS i ON i.k = x.k AND i.seq = x.seq
    WHERE x.t = v_rarest AND x.seq ${behind(order)} AND ${ALIVE} AND i.tag_keys @> p_tag_keys
    ORDER BY x.seq ${order} LIMIT p_limit`;
}

/** Everything, where there is no cursor. */
function behind(order: "ASC" | "DESC"): string {
  return order === "ASC" ? "> coalesce(p_cursor, 0)" : "< coalesce(p_cursor, 9223372036854775807)";
}
