import type { Names } from "./names.ts";
import { functionDefinition } from "./quoting.ts";

/*
 * Writes are functions in the database, because a single SQL statement sees the tables as they were when it began: after
 * it has waited for another writer it would judge ids by what is not true any more. Each statement inside of a function
 * looks anew, and all of them are one statement to the caller. Their plans stay in the server, also without names.
 *
 * A conversation's row is locked first by every write, so writes of one conversation wait for each other. Positions of
 * records come from its `seq`, which only grows; negative positions are ids whose records were replaced.
 */

/** A batch of deletions is full when it has deleted so many records, however few conversations they were of. */
export const BATCH_RECORDS = 100_000;

/** What makes a conversation alive. */
const ALIVE = "(c.expires_at IS NULL OR c.expires_at > now())";

/** What each write notes in the conversation's row. Expiry is indexed by the hour, so most writes move no index. */
const TOUCH = `updated_at = now(),
    expires_at = now() + p_ttl * interval '1 second',
    expires_hour = floor(extract(epoch FROM now() + p_ttl * interval '1 second') / 3600)::integer`;

/**
 * The function that appends. It answers `stored <version> <appended>` or `conflict <version>`.
 *
 * Each call has a random number, which the records that it adds keep. A repetition after a lost answer comes with the same
 * one, so it can tell what its first try stored from what somebody else has, and answers as that would have been answered.
 */
export function appendFunction(names: Names): string {
  const body = `
DECLARE
  v_count integer := cardinality(p_ids);
  v_last bigint;
  v_isalive boolean;
  v_appended integer;
  v_attempts integer := 0;
BEGIN
  UPDATE ${names.conversation} AS c SET seq = c.seq + v_count, ${TOUCH}
  WHERE c.k = p_key AND ${ALIVE} AND (p_version IS NULL OR p_version = c.seq::text)
  RETURNING c.seq - v_count INTO v_last;
${secondLook(names)}  INSERT INTO ${names.record} (k, seq, id, data, stamp)
  SELECT p_key, v_last + o.ord, o.id, o.data, p_base FROM unnest(p_ids, p_data) WITH ORDINALITY AS o(id, data, ord)
  ON CONFLICT (k, id) DO NOTHING;
  GET DIAGNOSTICS v_appended = ROW_COUNT;
  IF v_appended = 0 THEN
    UPDATE ${names.conversation} AS c SET seq = v_last WHERE c.k = p_key;
    ${storedBefore(names)}
  END IF;
  RETURN 'stored ' || (v_last + v_count) || ' ' || v_appended;
END`;
  const head = `${names.append}(
  p_key uuid, p_owner_key uuid, p_owner text, p_source text, p_session text,
  p_ids text[], p_data text[], p_version text, p_ttl double precision, p_base bigint
) RETURNS text`;
  return functionDefinition(head, body);
}

/** What an append answers that adds nothing: what an earlier try of the same call was to answer, or that. */
function storedBefore(names: Names): string {
  return `RETURN coalesce((SELECT 'stored ' || max(r.seq - o.ord + v_count) || ' ' || nullif(count(*), 0)
          FROM unnest(p_ids) WITH ORDINALITY AS o(id, ord) JOIN ${names.record} AS r
          ON r.k = p_key AND r.id = o.id AND r.stamp = p_base), 'stored ' || v_last || ' 0');`;
}

/** What an append does where the conversation is missing, has expired, or has another version. */
function secondLook(names: Names): string {
  return `  WHILE NOT FOUND LOOP
    v_attempts := v_attempts + 1;
    IF v_attempts > 100 THEN
      -- Policies may hide a row from changes and not from colliding with it, and nobody would end this.
      RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = 'a conversation is there that may not be changed';
    END IF;
    SELECT c.seq, ${ALIVE} INTO v_last, v_isalive FROM ${names.conversation} AS c WHERE c.k = p_key FOR UPDATE;
    IF v_isalive THEN
      IF NOT EXISTS (SELECT FROM unnest(p_ids) AS o(id)
          WHERE NOT EXISTS (SELECT FROM ${names.record} AS r WHERE r.k = p_key AND r.id = o.id)) THEN
        ${storedBefore(names)}
      ELSIF p_version <> v_last::text THEN
        RETURN 'conflict ' || v_last;
      END IF;
    ELSE
      IF p_version <> '' THEN
        RETURN 'conflict ';
      END IF;
      INSERT INTO ${names.conversation} (k, owner_key, owner, source, session, seq, updated_at)
      VALUES (p_key, p_owner_key, p_owner, p_source, p_session, p_base, now()) ON CONFLICT (k) DO NOTHING;
      -- Somebody else may have begun it in between.
      CONTINUE WHEN v_isalive IS NULL AND NOT FOUND;
      v_last := coalesce(v_last, p_base);
      -- What is left of a life that ended.
      DELETE FROM ${names.record} AS r WHERE r.k = p_key;
    END IF;
    UPDATE ${names.conversation} AS c SET seq = v_last + v_count, ${TOUCH} WHERE c.k = p_key;
  END LOOP;
`;
}

/**
 * The function that replaces a run. It answers `replaced <version>`, `conflict <version>`, `from <version>` or
 * `through <version>` for an end that is not stored, `order`, or `outside <index>` for an id that is stored elsewhere.
 */
export function replaceFunction(names: Names): string {
  const body = `
DECLARE
  v_count integer := cardinality(p_ids);
  v_seq bigint;
  v_from bigint;
  v_through bigint;
  v_base bigint;
  v_shift bigint;
  v_outside bigint;
BEGIN
${findRun(names)}  DELETE FROM ${names.record} AS r WHERE r.k = p_key AND r.id = ANY (p_ids);
  -- The ids stay, at positions of their own that nothing else ever has.
  UPDATE ${names.record} AS r SET seq = -(v_seq + 1 + r.seq - v_from), data = ''
  WHERE r.k = p_key AND r.seq BETWEEN v_from AND v_through;
  v_base := v_from - 1;
  v_shift := v_through - v_from + 1;
  IF v_count > v_shift THEN
    -- More than there is room for: the new records and what follows them get positions above all that were given.
    v_base := v_seq + v_shift;
    v_shift := v_base + v_count - v_through;
    UPDATE ${names.record} AS r SET seq = r.seq + v_shift WHERE r.k = p_key AND r.seq > v_through;
  END IF;
  v_seq := v_seq + v_shift;
  INSERT INTO ${names.record} (k, seq, id, data)
  SELECT p_key, v_base + o.ord, o.id, o.data FROM unnest(p_ids, p_data) WITH ORDINALITY AS o(id, data, ord);
  UPDATE ${names.conversation} AS c SET seq = v_seq, ${TOUCH} WHERE c.k = p_key;
  RETURN 'replaced ' || v_seq;
END`;
  const head = `${names.replace}(
  p_key uuid, p_from text, p_through text, p_ids text[], p_data text[],
  p_version text, p_ttl double precision
) RETURNS text`;
  return functionDefinition(head, body);
}

/** Locks the conversation, judges the version and finds the run. */
function findRun(names: Names): string {
  return `  SELECT c.seq INTO v_seq FROM ${names.conversation} AS c WHERE c.k = p_key AND ${ALIVE} FOR UPDATE;
  IF p_version <> coalesce(v_seq::text, '') THEN
    RETURN 'conflict ' || coalesce(v_seq::text, '');
  END IF;
  SELECT r.seq INTO v_from FROM ${names.record} AS r WHERE r.k = p_key AND r.id = p_from AND r.seq > 0;
  IF v_seq IS NULL OR v_from IS NULL THEN
    RETURN 'from ' || coalesce(v_seq::text, '');
  END IF;
  SELECT r.seq INTO v_through FROM ${names.record} AS r WHERE r.k = p_key AND r.id = p_through AND r.seq > 0;
  IF v_through IS NULL THEN
    RETURN 'through ' || v_seq;
  ELSIF v_through < v_from THEN
    RETURN 'order ' || v_seq;
  END IF;
  SELECT min(o.ord) - 1 INTO v_outside FROM unnest(p_ids) WITH ORDINALITY AS o(id, ord)
  JOIN ${names.record} AS r ON r.k = p_key AND r.id = o.id WHERE r.seq NOT BETWEEN v_from AND v_through;
  IF v_outside IS NOT NULL THEN
    RETURN 'outside ' || v_outside;
  END IF;
`;
}

/** The functions that delete conversations by key, by owner and by age. They answer `<conversations> <records>`. */
export function removeFunctions(names: Names): string[] {
  const removing = (name: string, parameters: string, rows: string) => {
    const body = `
DECLARE
  v_key uuid;
  v_count bigint;
  v_records bigint := 0;
  v_conversations bigint := 0;
BEGIN
  -- Only what is locked is deleted: a conversation that begins meanwhile is not this call's.
  FOR v_key IN ${rows} LOOP
    DELETE FROM ${names.record} AS r WHERE r.k = v_key;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    v_records := v_records + v_count;
    DELETE FROM ${names.conversation} AS c WHERE c.k = v_key;
    IF NOT FOUND THEN
      -- Policies may let a row be locked and not deleted, and nothing must count as deleted that stays.
      RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege', MESSAGE = 'a conversation is there that may not be deleted';
    END IF;
    v_conversations := v_conversations + 1;
    EXIT WHEN v_records >= ${BATCH_RECORDS};
  END LOOP;
  RETURN v_conversations || ' ' || v_records;
END`;
    return functionDefinition(`${name}(${parameters}) RETURNS text`, body);
  };
  const from = `SELECT c.k FROM ${names.conversation} AS c WHERE`;
  const due = `c.expires_hour <= floor(extract(epoch FROM now()) / 3600) AND c.expires_at <= now()`;
  return [
    removing(names.remove, "p_key uuid", `${from} c.k = p_key FOR UPDATE`),
    removing(
      names.erase,
      "p_owner_key uuid, p_limit integer",
      `${from} c.owner_key = p_owner_key ORDER BY c.k LIMIT p_limit FOR UPDATE`,
    ),
    removing(
      names.expire,
      "p_limit integer",
      `${from} ${due} ORDER BY c.expires_hour LIMIT p_limit FOR UPDATE SKIP LOCKED`,
    ),
  ];
}
