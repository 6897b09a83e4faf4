import { PostgresChatMessageHistory } from "@langchain/community/stores/message/postgres";
import { mapChatMessagesToStoredMessages } from "@langchain/core/messages";
import pg from "pg";
import { toLangchain } from "./langchain-messages.mjs";

/** As it stores them, as JSON. */
function storedTexts(messages) {
  return mapChatMessagesToStoredMessages(messages.map(toLangchain)).map(({ type, data }) =>
    JSON.stringify({ ...data, type }),
  );
}

/** Schemas whose table holds the messages of other conversations already. */
const filled = new Set();

async function fill(pool, prefix, others) {
  if (filled.has(prefix)) return;
  filled.add(prefix);
  const [text] = storedTexts([{ id: "other", role: "assistant", text: "word ".repeat(72) }]);
  await pool.query(
    `INSERT INTO langchain_chat_histories (session_id, message)
     SELECT 'other-' || n / 1000, $1::jsonb FROM generate_series(1, $2) AS n`,
    [text, others],
  );
  await pool.query("ANALYZE langchain_chat_histories");
}

/** Its table, which it makes itself, has no index on the session. */
export const langchainPostgres = {
  name: "langchain",
  kind: "postgres",
  async open({ url, prefix, others = 0, sessions, messages }) {
    const pool = new pg.Pool({ connectionString: url, options: `-c search_path="${prefix}"` });
    await pool.query(`CREATE SCHEMA IF NOT EXISTS "${prefix}"`);
    const histories = new Map();
    for (const sessionId of sessions) histories.set(sessionId, new PostgresChatMessageHistory({ sessionId, pool }));
    for (const history of histories.values()) await history.getMessages();
    await fill(pool, prefix, others);
    // As it stores them, but in one step: each by itself would take seconds.
    const texts = storedTexts(messages);
    for (const session of sessions) {
      await pool.query(
        "INSERT INTO langchain_chat_histories (session_id, message) SELECT $1, m::jsonb FROM unnest($2::text[]) AS m",
        [session, texts],
      );
    }
    return {
      append: (session, turn) => histories.get(session).addMessages(turn.map(toLangchain)),
      load: async (session, last) => (await histories.get(session).getMessages()).slice(-last).length,
      async close() {
        await pool.query("DELETE FROM langchain_chat_histories WHERE session_id = ANY ($1)", [sessions]);
        await pool.end();
      },
    };
  },
};
