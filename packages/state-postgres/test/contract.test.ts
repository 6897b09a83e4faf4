import { testStateStore } from "@agentfw/provider-testing/vitest";
import { openOnServer } from "./support/open.ts";

testStateStore({ name: "state-postgres", open: openOnServer });
