import type { Names } from "./names.ts";
import { functionDefinition } from "./quoting.ts";

/**
 * The function that reads a page. It gives nothing where there is no conversation; else the version, and then either
 * `gone`, when the cursor's record is not there, or `first <record>`, where it was asked for, and the newest records,
 * newest first. A record is `<position> <id>`, a line feed, and its data. All of it is seen at one point in time.
 *
 * It is a function for its settings: a planner that knows mostly short conversations would sort a long one to find its
 * end. One column of text, because each further column of each row costs time on both sides.
 */
export function readFunction(names: Names): string {
  const record = "r.seq || ' ' || r.id || E'\\n' || r.data";
  const body = `
DECLARE
  v_seq bigint;
BEGIN
  SELECT c.seq INTO v_seq FROM ${names.conversation} AS c
  WHERE c.k = p_key AND (c.expires_at IS NULL OR c.expires_at > now());
  IF NOT FOUND THEN
    RETURN;
  END IF;
  RETURN NEXT v_seq::text;
  IF p_before IS NOT NULL AND NOT EXISTS
      (SELECT FROM ${names.record} AS r WHERE r.k = p_key AND r.seq = p_before) THEN
    RETURN NEXT 'gone';
    RETURN;
  END IF;
  IF p_withfirst THEN
    RETURN QUERY SELECT 'first ' || ${record} FROM ${names.record} AS r
    WHERE r.k = p_key AND r.seq > 0 ORDER BY r.seq LIMIT 1;
  END IF;
  RETURN QUERY SELECT ${record} FROM ${names.record} AS r
  WHERE r.k = p_key AND r.seq > 0 AND r.seq < coalesce(p_before, 9223372036854775807)
  ORDER BY r.seq DESC LIMIT p_limit;
END`;
  const head = `${names.read}(p_key uuid, p_limit bigint, p_before bigint, p_withfirst boolean) RETURNS SETOF text
  STABLE SET enable_sort = off SET enable_bitmapscan = off SET enable_seqscan = off`;
  return functionDefinition(head, body);
}
