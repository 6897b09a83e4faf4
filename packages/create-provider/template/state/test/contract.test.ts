import { testStateStore } from "@agentfw/provider-testing/vitest";
import { cannot, name, openStateStore } from "./open.ts";

testStateStore({ name, cannot, open: openStateStore });
