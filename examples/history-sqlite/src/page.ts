import { AgentFrameworkError, type HistoryKey, type HistoryPage, type HistoryRecord } from "@agentfw/core";
import type { InStatement, ResultSet, Row } from "@libsql/client";
import { PROVIDER } from "./errors.ts";
import { parse, toNames, toVersion } from "./names.ts";
import { ALIVE, ASIDE } from "./statements.ts";

/** What of a conversation is read. */
export interface PageRequest {
  readonly last: number | undefined;
  /** The number of the record before which the page ends. */
  readonly cursor: number | undefined;
  readonly withFirst: boolean;
  readonly onCorrupt: "error" | "skip";
}

/**
 * One statement sees one state. Its rows, by `part`: the conversation, the record of the cursor, the page and one record
 * more, the first record.
 */
export function pageStatement(key: HistoryKey, { last, cursor, withFirst }: PageRequest, now: number): InStatement {
  return {
    sql: `WITH
        conversation AS (
          SELECT number, writes FROM agentfw_conversations
          WHERE owner = :owner AND source = :source AND session = :session AND ${ALIVE}
        ),
        edge AS (
          SELECT number, position FROM agentfw_records
          WHERE number = :cursor AND conversation = (SELECT number FROM conversation)
        )
      SELECT 'conversation' AS part, number, writes AS position, NULL AS id, NULL AS data FROM conversation
      UNION ALL SELECT 'edge', number, position, NULL, NULL FROM edge
      UNION ALL SELECT * FROM (
        SELECT 'page', number, position, id, data FROM agentfw_records
        WHERE conversation = (SELECT number FROM conversation)
          AND position < coalesce((SELECT position FROM edge), ${2 * ASIDE})
        ORDER BY position DESC LIMIT :limit)
      UNION ALL SELECT * FROM (
        SELECT 'first', number, position, id, data FROM agentfw_records
        WHERE conversation = (SELECT number FROM conversation) AND :first
        ORDER BY position LIMIT 1)`,
    args: {
      ...toNames(key),
      now,
      cursor: cursor ?? null,
      limit: last === undefined ? -1 : last + 1,
      first: withFirst ? 1 : 0,
    },
  };
}

/** @throws `conflict` when the record of the cursor is gone; `corrupt` with its place for a record that cannot be read. */
export function toPage({ rows }: ResultSet, { last, cursor, onCorrupt }: PageRequest): HistoryPage {
  const part = (name: string): Row[] => rows.filter((row) => row["part"] === name);
  const conversation = part("conversation")[0];
  const version = conversation === undefined ? "" : toVersion(conversation["number"], conversation["position"]);
  if (cursor !== undefined && part("edge").length === 0) {
    throw new AgentFrameworkError("conflict", "the record that the cursor names is no longer stored", {
      provider: PROVIDER,
      currentVersion: version,
    });
  }
  const found = part("page");
  const page = found.slice(0, last ?? found.length).reverse();
  const older = found.length > page.length ? page[0]?.["number"] : undefined;
  const corrupt = new Set<string>();
  const records = readable(page, onCorrupt, corrupt);
  const first = readable(part("first"), onCorrupt, corrupt)[0];
  return {
    records,
    version,
    ...(older === undefined ? {} : { older: String(older) }),
    ...(first === undefined ? {} : { first }),
    ...(corrupt.size === 0 ? {} : { corrupt: [...corrupt] }),
  };
}

function readable(rows: readonly Row[], onCorrupt: "error" | "skip", corrupt: Set<string>): HistoryRecord[] {
  const records: HistoryRecord[] = [];
  for (const row of rows) {
    const record = toRecord(row);
    const position = `agentfw_records.number = ${String(row["number"])}`;
    if (record !== undefined) {
      records.push(record);
    } else if (onCorrupt === "skip") {
      corrupt.add(position);
    } else {
      throw new AgentFrameworkError("corrupt", "a record cannot be read", { provider: PROVIDER, position });
    }
  }
  return records;
}

/** The record of a row, or nothing when it is not what was stored. */
function toRecord({ id: idText, data }: Row): HistoryRecord | undefined {
  const id = parse(idText);
  return typeof id === "string" && typeof data === "string" && parse(data) !== undefined ? { id, data } : undefined;
}
