import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { openOnPgBouncer } from "./support/open.ts";

testHistoryStore({
  name: "history-postgres on partitions behind PgBouncer in transaction mode",
  open: openOnPgBouncer,
});
