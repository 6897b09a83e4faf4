import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { openOnCluster, openOnNode } from "./support/open.ts";

testHistoryStore({ name: "history-redis on one node", open: openOnNode });

testHistoryStore({ name: "history-redis on a cluster of three masters", open: openOnCluster });
