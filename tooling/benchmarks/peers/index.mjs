import { keyv } from "./keyv.mjs";
import { langchainFile, langchainMemory } from "./langchain.mjs";
import { langchainPostgres } from "./langchain-postgres.mjs";
import { langchainRedis } from "./langchain-redis.mjs";
import { langgraphPostgres } from "./langgraph-postgres.mjs";
import { openaiAgents } from "./openai-agents.mjs";
import { unstorage } from "./unstorage.mjs";

/** Each is a `Peer` of ../src/peer.ts. */
export const peers = [
  langchainMemory,
  openaiAgents,
  keyv,
  langchainFile,
  unstorage,
  langchainRedis,
  langchainPostgres,
  langgraphPostgres,
];
