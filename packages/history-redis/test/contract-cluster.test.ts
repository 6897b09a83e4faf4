import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { opener } from "./support/open.ts";

testHistoryStore({ name: "RedisHistoryStore on a cluster of three masters", open: opener("cluster") });
