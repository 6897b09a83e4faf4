import { testStateStore } from "@agentfw/provider-testing/vitest";
import { opener, passingTime } from "./support/stores.ts";

testStateStore({ name: "RedisStateStore on one node", open: opener("url"), cannot: passingTime });
