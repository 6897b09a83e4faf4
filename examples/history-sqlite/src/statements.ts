import { configurationError, type HistoryRecord } from "@agentfw/core";
import type { InValue, Row, Transaction } from "@libsql/client";
import { type Names, toVersion } from "./names.ts";

/** Holds for a conversation that has not expired. */
export const ALIVE = "(expires_at IS NULL OR expires_at > :now)";

/** Further than any position, so that what is moved passes through where nothing is. */
export const ASIDE = 2 ** 50;

/** Rows of one INSERT: SQLite takes 32,766 parameters in a statement. */
const ROWS_PER_STATEMENT = 500;

/** How many expired conversations a write removes beside its own. */
const EXPIRED_PER_WRITE = 4;

/** A conversation that is there. */
export interface Stored {
  readonly number: number;
  readonly version: string;
}

/** The conversation; what is left of an expired one is removed. */
export async function find(transaction: Transaction, names: Names, now: number): Promise<Stored | undefined> {
  const { rows } = await transaction.execute({
    sql: `SELECT number, writes, ${ALIVE} AS alive FROM agentfw_conversations
      WHERE owner = :owner AND source = :source AND session = :session`,
    args: { ...names, now },
  });
  const row = rows[0];
  if (row === undefined) {
    return undefined;
  }
  const number = Number(row["number"]);
  if (row["alive"] === 0) {
    await remove(transaction, number);
    return undefined;
  }
  return { number, version: toVersion(number, row["writes"]) };
}

/** Begins a conversation and gives its number. */
export async function insertConversation(transaction: Transaction, names: Names, now: number): Promise<number> {
  const row = await firstRow(
    transaction,
    `INSERT INTO agentfw_conversations (owner, source, session, writes, updated_at)
      VALUES (:owner, :source, :session, 0, :now) RETURNING number`,
    { ...names, now: Math.floor(now) },
  );
  return Number(row?.["number"]);
}

/** Removes a conversation with all that belongs to it. */
export async function remove(transaction: Transaction, number: number): Promise<void> {
  for (const sql of [
    "DELETE FROM agentfw_records WHERE conversation = ?",
    "DELETE FROM agentfw_ids WHERE conversation = ?",
    "DELETE FROM agentfw_conversations WHERE number = ?",
  ]) {
    await transaction.execute({ sql, args: [number] });
  }
}

/** Remembers the ids, and gives the records whose ids were not remembered before. */
export async function rememberNew(
  transaction: Transaction,
  number: number,
  records: readonly HistoryRecord[],
): Promise<readonly HistoryRecord[]> {
  const added = new Set<unknown>();
  for (const chunk of chunks(records)) {
    const { rows } = await transaction.execute({
      sql: `INSERT INTO agentfw_ids (conversation, id) VALUES ${chunk.map(() => "(?, ?)").join(", ")}
        ON CONFLICT DO NOTHING RETURNING id`,
      args: chunk.flatMap(({ id }) => [number, JSON.stringify(id)]),
    });
    for (const row of rows) {
      added.add(row["id"]);
    }
  }
  return records.filter(({ id }) => added.has(JSON.stringify(id)));
}

/** Adds records behind the last one. */
export async function insertAtEnd(
  transaction: Transaction,
  number: number,
  records: readonly HistoryRecord[],
): Promise<void> {
  const row = await firstRow(
    transaction,
    "SELECT coalesce(max(position), 0) + 1 AS position FROM agentfw_records WHERE conversation = ?",
    [number],
  );
  await insertRecords(transaction, number, Number(row?.["position"]), records);
}

/** Where a record stands, if it is stored. */
export async function positionOf(transaction: Transaction, number: number, id: string): Promise<number | undefined> {
  const row = await firstRow(transaction, "SELECT position FROM agentfw_records WHERE conversation = ? AND id = ?", [
    number,
    JSON.stringify(id),
  ]);
  return row === undefined ? undefined : Number(row["position"]);
}

/**
 * Puts records where others are.
 *
 * @throws `configuration` when one of them has the id of a record that stays.
 */
export async function replaceRun(
  transaction: Transaction,
  number: number,
  run: { readonly from: number; readonly through: number },
  records: readonly HistoryRecord[],
): Promise<void> {
  const { from, through } = run;
  await transaction.execute({
    sql: "DELETE FROM agentfw_records WHERE conversation = ? AND position BETWEEN ? AND ?",
    args: [number, from, through],
  });
  for (const chunk of chunks(records)) {
    const stored = await firstRow(
      transaction,
      `SELECT 1 FROM agentfw_records WHERE conversation = ? AND id IN (${chunk.map(() => "?").join(", ")}) LIMIT 1`,
      [number, ...chunk.map(({ id }) => JSON.stringify(id))],
    );
    if (stored !== undefined) {
      throw configurationError("records", "must not have the id of a record outside of the run");
    }
  }
  await makeRoom(transaction, number, through, records.length - (through - from + 1));
  await rememberNew(transaction, number, records);
  await insertRecords(transaction, number, from, records);
}

/** What every write ends with: the oldest records go, the conversation is renewed. Gives the new version. */
export async function renew(
  transaction: Transaction,
  number: number,
  { now, expiresAt, maxRecords }: { now: number; expiresAt: number | null; maxRecords: number | undefined },
): Promise<string> {
  if (maxRecords !== undefined) {
    await transaction.execute({
      sql: `DELETE FROM agentfw_records WHERE conversation = :number AND position <= (
        SELECT position FROM agentfw_records WHERE conversation = :number ORDER BY position DESC LIMIT 1 OFFSET :kept)`,
      args: { number, kept: maxRecords },
    });
  }
  const row = await firstRow(
    transaction,
    `UPDATE agentfw_conversations SET writes = writes + 1, updated_at = :now, expires_at = :expiresAt
      WHERE number = :number RETURNING number, writes`,
    { number, now: Math.floor(now), expiresAt },
  );
  return toVersion(row?.["number"], row?.["writes"]);
}

/** Removes some of the conversations that have expired. */
export async function removeExpired(transaction: Transaction, now: number): Promise<void> {
  const { rows } = await transaction.execute({
    sql: "SELECT number FROM agentfw_conversations WHERE expires_at <= ? LIMIT ?",
    args: [now, EXPIRED_PER_WRITE],
  });
  for (const row of rows) {
    await remove(transaction, Number(row["number"]));
  }
}

/** Moves what comes behind a run that becomes longer. */
async function makeRoom(transaction: Transaction, number: number, through: number, missing: number): Promise<void> {
  if (missing <= 0) {
    return;
  }
  for (const [distance, above] of [
    [ASIDE, through],
    [missing - ASIDE, ASIDE / 2],
  ] as const) {
    await transaction.execute({
      sql: "UPDATE agentfw_records SET position = position + ? WHERE conversation = ? AND position > ?",
      args: [distance, number, above],
    });
  }
}

async function insertRecords(
  transaction: Transaction,
  number: number,
  start: number,
  records: readonly HistoryRecord[],
): Promise<void> {
  let position = start;
  for (const chunk of chunks(records)) {
    await transaction.execute({
      sql: `INSERT INTO agentfw_records (conversation, position, id, data)
        VALUES ${chunk.map(() => "(?, ?, ?, ?)").join(", ")}`,
      args: chunk.flatMap(({ id, data }) => [number, position++, JSON.stringify(id), data]),
    });
  }
}

async function firstRow(
  transaction: Transaction,
  sql: string,
  args: InValue[] | Record<string, InValue>,
): Promise<Row | undefined> {
  const { rows } = await transaction.execute({ sql, args });
  return rows[0];
}

function* chunks<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += ROWS_PER_STATEMENT) {
    yield items.slice(start, start + ROWS_PER_STATEMENT);
  }
}
