import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { openThroughProxy } from "./support/open.ts";

testHistoryStore({
  name: "history-blob in segments of five blocks, under another prefix",
  open: (options) => openThroughProxy(options, { segmentBlocks: 5, prefix: "agents/history" }),
});
