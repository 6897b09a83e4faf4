import type { Names } from "./names.ts";
import { functionDefinition } from "./quoting.ts";

type Order = "ASC" | "DESC";

const COLUMNS = "i.seq::text, i.key, i.etag, i.tags";
const ALIVE = "(i.expires_at IS NULL OR i.expires_at > now())";

/**
 * The function that gives a page of living items behind a position, as rows of `seq`, key, etag and tags, in the order of
 * creation. It walks the owner's items, or those that carry a tag, or leaps from one of several tags to the next.
 *
 * It is a function, because its settings keep the planner from fetching and sorting all that an owner has for a page.
 */
export function listFunction(names: Names): string {
  const body = `
DECLARE
  v_count integer := cardinality(p_tag_keys);
  v_at integer := 0;
  v_agreed integer := 0;
  v_seq bigint := coalesce(p_cursor, CASE WHEN p_isdescending THEN 9223372036854775807 ELSE 0 END);
  v_next bigint;
  v_k uuid;
BEGIN
  IF v_count = 0 AND p_isdescending THEN
    RETURN QUERY ${ofOwner(names, "DESC")};
  ELSIF v_count = 0 THEN
    RETURN QUERY ${ofOwner(names, "ASC")};
  ELSIF v_count = 1 AND p_isdescending THEN
    RETURN QUERY ${tagged(names, "DESC")};
  ELSIF v_count = 1 THEN
    RETURN QUERY ${tagged(names, "ASC")};
  ELSIF p_isdescending THEN
${leap(names, "DESC")}  ELSE
${leap(names, "ASC")}  END IF;
END`;
  const head = `${names.list}(
  p_owner_key uuid, p_tag_keys uuid[], p_isdescending boolean, p_cursor bigint, p_limit bigint
) RETURNS TABLE (seq text, key text, etag text, tags text)
  STABLE SET enable_sort = off SET enable_bitmapscan = off SET enable_seqscan = off`;
  return functionDefinition(head, body);
}

function ofOwner(names: Names, order: Order): string {
  return `SELECT ${COLUMNS} FROM ${names.item} AS i
    WHERE i.owner_key = p_owner_key AND i.seq ${behind(order)} v_seq AND ${ALIVE}
    ORDER BY i.seq ${order} LIMIT p_limit`;
}

function tagged(names: Names, order: Order): string {
  return `SELECT ${COLUMNS} FROM ${names.tag} AS x JOIN ${names.item} AS i ON i.k = x.k AND i.seq = x.seq
    WHERE x.t = p_tag_keys[1] AND x.seq ${behind(order)} v_seq AND ${ALIVE}
    ORDER BY x.seq ${order} LIMIT p_limit`;
}

/**
 * Asks each tag in turn for its next position at or behind the one that the others named; where all of them agree there is
 * an item. So the work is that of the rarest tag, without anybody knowing which one that is.
 */
function leap(names: Names, order: Order): string {
  const step = order === "ASC" ? "+ 1" : "- 1";
  return `    v_seq := v_seq ${step};
    WHILE p_limit > 0 LOOP
      SELECT x.seq, x.k INTO v_next, v_k FROM ${names.tag} AS x
      WHERE x.t = p_tag_keys[v_at + 1] AND x.seq ${behind(order)}= v_seq ORDER BY x.seq ${order} LIMIT 1;
      EXIT WHEN NOT FOUND;
      v_agreed := CASE WHEN v_next = v_seq THEN v_agreed + 1 ELSE 1 END;
      v_seq := v_next;
      v_at := (v_at + 1) % v_count;
      IF v_agreed = v_count THEN
        RETURN QUERY SELECT ${COLUMNS} FROM ${names.item} AS i WHERE i.k = v_k AND i.seq = v_seq AND ${ALIVE};
        p_limit := p_limit - CASE WHEN FOUND THEN 1 ELSE 0 END;
        v_agreed := 0;
        v_seq := v_seq ${step};
      END IF;
    END LOOP;
`;
}

function behind(order: Order): string {
  return order === "ASC" ? ">" : "<";
}
