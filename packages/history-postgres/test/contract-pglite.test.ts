import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { openOnPglite } from "./support/open.ts";

testHistoryStore({ name: "history-postgres embedded on PGlite", open: openOnPglite });
