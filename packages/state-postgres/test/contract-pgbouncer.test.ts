import { testStateStore } from "@agentfw/provider-testing/vitest";
import { openOnPgBouncer } from "./support/open.ts";

testStateStore({ name: "state-postgres behind PgBouncer in transaction mode", open: openOnPgBouncer });
