import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { openThroughProxy } from "./support/open.ts";

testHistoryStore({ name: "history-blob", open: openThroughProxy });
