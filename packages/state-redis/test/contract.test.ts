import { testStateStore } from "@agentfw/provider-testing/vitest";
import { opener } from "./support/stores.ts";

const cannot = { advanceTime: "the server's own clock decides what has expired, so time passes in earnest" };

testStateStore({ name: "RedisStateStore on one node", open: opener("url"), cannot });

testStateStore({ name: "RedisStateStore over a client of ioredis 5", open: opener("ioredis 5"), cannot });

testStateStore({ name: "RedisStateStore on a cluster", open: opener("cluster"), cannot });
