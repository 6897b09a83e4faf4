import type { HistoryKeyInfo, HistoryList } from "@agentfw/core";
import { unescapeText } from "@agentfw/core/backend";
import type { Row } from "./connection.ts";
import { textOf } from "./replies.ts";

/** The page that the rows hold: one more than the limit means that there are more. */
export function listOf(rows: readonly Row[], limit: number): HistoryList {
  const items = rows.slice(0, limit).map(itemOf);
  const last = rows[limit - 1]?.[0];
  return rows.length > limit && typeof last === "string" ? { items, cursor: last } : { items };
}

function itemOf([, owner, source, session, updated]: Row): HistoryKeyInfo {
  const name = (value: unknown) => unescapeText(textOf(value, "list"));
  return {
    key: { owner: owner === null ? null : name(owner), source: name(source), session: name(session) },
    updatedAt: new Date(Number(updated)).toISOString(),
  };
}
