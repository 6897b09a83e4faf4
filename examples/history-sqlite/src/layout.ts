import { AgentFrameworkError } from "@agentfw/core";
import type { Client, Transaction } from "@libsql/client";
import { PROVIDER } from "./errors.ts";

/** The layout that this version writes. */
export const LAYOUT_VERSION = 1;

const STATEMENTS = [
  "CREATE TABLE agentfw_layout (version INTEGER NOT NULL)",
  // AUTOINCREMENT: the number of a conversation that was cleared is not given to the next one, nor is its version.
  `CREATE TABLE agentfw_conversations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    owner TEXT NOT NULL,
    source TEXT NOT NULL,
    session TEXT NOT NULL,
    writes INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    UNIQUE (owner, source, session)
  )`,
  `CREATE INDEX agentfw_conversations_expiry ON agentfw_conversations (expires_at)
    WHERE expires_at IS NOT NULL`,
  `CREATE TABLE agentfw_records (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation INTEGER NOT NULL,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (conversation, position),
    UNIQUE (conversation, id)
  )`,
  // Every id that was ever appended, also after its record was replaced or cut off.
  `CREATE TABLE agentfw_ids (
    conversation INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (conversation, id)
  ) WITHOUT ROWID`,
];

/**
 * True when the tables are there.
 *
 * @throws `unsupported` for a layout of a later version.
 */
export async function hasLayout(database: Pick<Client, "execute">): Promise<boolean> {
  const tables = await database.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'agentfw_layout'");
  if (tables.rows.length === 0) {
    return false;
  }
  const { rows } = await database.execute("SELECT version FROM agentfw_layout");
  const found = rows[0]?.["version"];
  if (found !== LAYOUT_VERSION) {
    throw new AgentFrameworkError(
      "unsupported",
      `the database has layout ${String(found)}, and this version knows layout ${LAYOUT_VERSION}`,
      { provider: PROVIDER },
    );
  }
  return true;
}

/** Makes the tables where there are none. The transaction holds the write lock, so of two processes one does it. */
export async function prepareLayout(transaction: Transaction): Promise<void> {
  if (await hasLayout(transaction)) {
    return;
  }
  for (const statement of STATEMENTS) {
    await transaction.execute(statement);
  }
  await transaction.execute({ sql: "INSERT INTO agentfw_layout (version) VALUES (?)", args: [LAYOUT_VERSION] });
}
