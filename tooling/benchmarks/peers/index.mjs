import { keyv } from "./keyv.mjs";
import { langchainFile, langchainMemory } from "./langchain.mjs";
import { langchainRedis } from "./langchain-redis.mjs";
import { openaiAgents } from "./openai-agents.mjs";
import { unstorage } from "./unstorage.mjs";

/** Each is a `Peer` of ../src/peers.ts. */
export const peers = [langchainMemory, openaiAgents, keyv, langchainFile, unstorage, langchainRedis];
