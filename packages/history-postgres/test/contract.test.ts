import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { openOnServer } from "./support/open.ts";

testHistoryStore({ name: "history-postgres", open: openOnServer });
