import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { cannot, name, openHistoryStore } from "./open.ts";

testHistoryStore({ name, cannot, open: openHistoryStore });
