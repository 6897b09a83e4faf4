import type { HistoryKeyInfo, HistoryList } from "@agentfw/core";
import { unescapeText } from "@agentfw/core/backend";
import type { PostgresStatement } from "./client.ts";
import type { Row } from "./connection.ts";
import { errors } from "./errors.ts";
import type { Names } from "./names.ts";

/** What is listed, and from where on: the names as they are stored. */
export interface ListTask {
  /** Without it, of all owners. */
  readonly ownerKey: string | undefined;
  readonly source: string | undefined;
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** One statement for a page, in the order of the conversations' keys, so that what is written meanwhile moves nothing. */
export function listStatement(names: Names, { ownerKey, source, limit, cursor }: ListTask): PostgresStatement {
  const values: unknown[] = [];
  const given = (value: unknown) => `$${values.push(value)}`;
  const conditions = ["(c.expires_at IS NULL OR c.expires_at > now())"];
  if (ownerKey !== undefined) {
    conditions.push(`c.owner_key = ${given(ownerKey)}::uuid`);
  }
  if (source !== undefined) {
    conditions.push(`c.source = ${given(source)}`);
  }
  if (cursor !== undefined) {
    conditions.push(`c.k > ${given(cursor)}::uuid`);
  }
  const text = `SELECT c.k::text AS k, c.owner, c.source, c.session,
floor(extract(epoch FROM c.updated_at) * 1000)::bigint::text AS updated FROM ${names.conversation} AS c
WHERE ${conditions.join(" AND ")} ORDER BY c.k LIMIT ${given(limit + 1)}::bigint`;
  return { text, values, rowMode: "array" };
}

/** The page that the rows hold: one more than the limit means that there are more. */
export function listOf(rows: readonly Row[], limit: number): HistoryList {
  const items = rows.slice(0, limit).map(itemOf);
  const last = rows[limit - 1]?.[0];
  return rows.length > limit && typeof last === "string" ? { items, cursor: last } : { items };
}

function itemOf([, owner, source, session, updated]: Row): HistoryKeyInfo {
  const isOwner = owner === null || typeof owner === "string";
  if (!isOwner || typeof source !== "string" || typeof session !== "string") {
    throw errors.unexpectedAnswer("list");
  }
  return {
    key: {
      owner: owner === null ? null : unescapeText(owner),
      source: unescapeText(source),
      session: unescapeText(session),
    },
    updatedAt: new Date(Number(updated)).toISOString(),
  };
}
