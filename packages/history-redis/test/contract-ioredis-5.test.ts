import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { opener } from "./support/open.ts";

testHistoryStore({ name: "RedisHistoryStore over ioredis 5", open: opener("ioredis 5") });
