import { testStateStore } from "@agentfw/provider-testing/vitest";
import { opener, passingTime } from "./support/stores.ts";

testStateStore({ name: "RedisStateStore on a cluster of three masters", open: opener("cluster"), cannot: passingTime });
