import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { openOnPartitions } from "./support/open.ts";

testHistoryStore({ name: "history-postgres on partitioned tables", open: openOnPartitions });
