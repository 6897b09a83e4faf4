import { testStateStore } from "@agentfw/provider-testing/vitest";
import { opener, passingTime } from "./support/stores.ts";

testStateStore({ name: "RedisStateStore over ioredis 5", open: opener("ioredis 5"), cannot: passingTime });
