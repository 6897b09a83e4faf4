import type { Names } from "./names.ts";
import { functionDefinition } from "./quoting.ts";

/*
 * Writes are functions in the database, because a single SQL statement sees the tables as they were when it began: after
 * it has waited for another writer it would judge etags by what is not true any more. Each statement inside of a function
 * looks anew, and all of them are one statement to the caller.
 *
 * An item's row is locked first by every write, and its tags are written under that lock. Its `seq` comes from a
 * sequence when a life of it begins, and orders listings; a tag counts only with the `seq` of the living item.
 */

/** What makes an item alive. */
const ALIVE = "(i.expires_at IS NULL OR i.expires_at > now())";

const EXPIRES_AT = "now() + p_ttl * interval '1 second'";

/** Expiry is indexed by the hour, so most writes move no index. */
const EXPIRES_HOUR = `floor(extract(epoch FROM ${EXPIRES_AT}) / 3600)::integer`;

/** Policies may let a row be locked and not deleted, and nothing must count as deleted that stays. */
const UNDELETED =
  "RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = 'an item is there that may not be deleted';";

/** What each write changes in a row that is there. */
const WRITTEN = `etag = p_etag, tags = p_tags, value = p_value, updated_at = now(),
    expires_at = ${EXPIRES_AT}, expires_hour = ${EXPIRES_HOUR}`;

/**
 * The function that creates and sets. `p_match` is NULL for no condition, `*` for any item that is there, else its etag.
 * It answers `stored`, or `conflict <etag>` with the etag of the item that is there, if any.
 */
export function putFunction(names: Names): string {
  const body = `
DECLARE
  v_etag text;
  v_seq bigint;
  v_tag_keys uuid[];
  v_isalive boolean;
BEGIN
  IF NOT p_iscreate THEN
    -- Most writes keep the tags, and are done with this.
    UPDATE ${names.item} AS i SET ${WRITTEN}
    WHERE i.k = p_k AND ${ALIVE} AND i.tag_keys = p_tag_keys AND (p_match IS NULL OR p_match IN ('*', i.etag));
    IF FOUND THEN
      RETURN 'stored';
    END IF;
  END IF;
  FOR v_attempt IN 1..100 LOOP
    SELECT i.etag, i.seq, i.tag_keys, ${ALIVE} INTO v_etag, v_seq, v_tag_keys, v_isalive
    FROM ${names.item} AS i WHERE i.k = p_k FOR UPDATE;
${judge()}${store(names)}  END LOOP;
  -- Policies may hide a row from reading and not from colliding with it, and nobody would end this.
  RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = 'an item is there that may not be seen';
END`;
  const head = `${names.put}(
  p_k uuid, p_owner_key uuid, p_owner text, p_key text, p_value text, p_etag text,
  p_tags text, p_tag_keys uuid[], p_iscreate boolean, p_match text, p_ttl double precision
) RETURNS text`;
  return functionDefinition(head, body);
}

/** Whether the write may happen, once the row is locked. An item that has its etag already is its own first try's. */
function judge(): string {
  return `    IF v_isalive AND v_etag = p_etag THEN
      RETURN 'stored';
    ELSIF v_isalive AND (p_iscreate OR (p_match IS NOT NULL AND p_match NOT IN ('*', v_etag))) THEN
      RETURN 'conflict ' || v_etag;
    ELSIF v_isalive IS NOT TRUE AND p_match IS NOT NULL THEN
      RETURN 'conflict ';
    END IF;
`;
}

/** The write, for an item that is new, has expired or changes its tags. */
function store(names: Names): string {
  return `    DELETE FROM ${names.tag} AS x WHERE x.t = ANY (v_tag_keys) AND x.seq = v_seq;
    IF v_isalive THEN
      UPDATE ${names.item} AS i SET tag_keys = p_tag_keys, ${WRITTEN} WHERE i.k = p_k;
    ELSE
      -- What is left of a life that ended.
      DELETE FROM ${names.item} AS i WHERE i.k = p_k AND i.seq = v_seq;
      INSERT INTO ${names.item} AS i (k, owner_key, owner, key, etag, tags, tag_keys, value, updated_at, expires_at, expires_hour)
      VALUES (p_k, p_owner_key, p_owner, p_key, p_etag, p_tags, p_tag_keys, p_value, now(), ${EXPIRES_AT}, ${EXPIRES_HOUR})
      ON CONFLICT (k) DO NOTHING RETURNING i.seq INTO v_seq;
      -- Somebody else may have made it in between.
      CONTINUE WHEN NOT FOUND;
    END IF;
    INSERT INTO ${names.tag} (t, seq, k) SELECT o.t, v_seq, p_k FROM unnest(p_tag_keys) AS o(t);
    RETURN 'stored';
`;
}

/** The functions that delete items: one, those of an owner, those that have expired. */
export function removeFunctions(names: Names): string[] {
  const due = `i.expires_hour <= floor(extract(epoch FROM now()) / 3600) AND i.expires_at <= now()`;
  return [
    removeFunction(names),
    removingFunction(names, {
      name: names.erase,
      parameters: "p_owner_key uuid, p_limit integer",
      rows: "i.owner_key = p_owner_key ORDER BY i.seq LIMIT p_limit FOR UPDATE",
    }),
    removingFunction(names, {
      name: names.expire,
      parameters: "p_limit integer",
      rows: `${due} ORDER BY i.expires_hour LIMIT p_limit FOR UPDATE SKIP LOCKED`,
    }),
  ];
}

/** The function that deletes an item. It answers `deleted`, `absent`, or `conflict <etag>`. */
function removeFunction(names: Names): string {
  const body = `
DECLARE
  v_etag text;
  v_seq bigint;
  v_tag_keys uuid[];
  v_isalive boolean;
BEGIN
  SELECT i.etag, i.seq, i.tag_keys, ${ALIVE} INTO v_etag, v_seq, v_tag_keys, v_isalive
  FROM ${names.item} AS i WHERE i.k = p_k FOR UPDATE;
  IF v_isalive AND p_match NOT IN ('*', v_etag) THEN
    RETURN 'conflict ' || v_etag;
  END IF;
  -- The tags first: row-level security may ask for the item that they belong to.
  DELETE FROM ${names.tag} AS x WHERE x.t = ANY (v_tag_keys) AND x.seq = v_seq;
  DELETE FROM ${names.item} AS i WHERE i.k = p_k AND i.seq = v_seq;
  IF v_seq IS NOT NULL AND NOT FOUND THEN
    ${UNDELETED}
  END IF;
  RETURN CASE WHEN v_isalive THEN 'deleted' ELSE 'absent' END;
END`;
  return functionDefinition(`${names.remove}(p_k uuid, p_match text) RETURNS text`, body);
}

/** A function that deletes a batch of items. It answers how many. */
function removingFunction(
  names: Names,
  { name, parameters, rows }: { readonly name: string; readonly parameters: string; readonly rows: string },
): string {
  const body = `
DECLARE
  v_keys uuid[];
  v_items bigint;
BEGIN
  -- Only what is locked is deleted: an item that is made meanwhile is not this call's.
  SELECT array_agg(o.k) INTO v_keys FROM (SELECT i.k FROM ${names.item} AS i WHERE ${rows}) AS o;
  DELETE FROM ${names.tag} AS x USING ${names.item} AS i
  WHERE i.k = ANY (v_keys) AND x.t = ANY (i.tag_keys) AND x.seq = i.seq;
  DELETE FROM ${names.item} AS i WHERE i.k = ANY (v_keys);
  GET DIAGNOSTICS v_items = ROW_COUNT;
  IF v_items < cardinality(v_keys) THEN
    ${UNDELETED}
  END IF;
  RETURN v_items::text;
END`;
  return functionDefinition(`${name}(${parameters}) RETURNS text`, body);
}
