import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { opener } from "./support/open.ts";

testHistoryStore({ name: "RedisHistoryStore on one node", open: opener("url") });
