import { InMemoryFileStore, InMemoryHistoryStore, InMemoryStateStore } from "@agentfw/core";
import type { HookReasons } from "../src/index.ts";
import { testFileStore, testHistoryStore, testStateStore } from "../src/vitest.ts";

const inMemory = "the data lives in the object itself";

const cannot: HookReasons = {
  another: inMemory,
  breakBackend: inMemory,
  loseNextReply: inMemory,
  stallBackend: inMemory,
  sharedClient: inMemory,
  corrupt: "records are held as they were checked",
  plantLink: "there are no links in memory",
};

testHistoryStore({
  name: "core, in memory",
  cannot,
  open: async ({ ttlSeconds, maxRecords } = {}) => {
    let now = 0;
    return {
      store: new InMemoryHistoryStore({ ttlSeconds, maxRecords, now: () => now }),
      advanceTime: (milliseconds) => {
        now += milliseconds;
      },
    };
  },
});

testStateStore({
  name: "core, in memory",
  cannot,
  open: async ({ ttlSeconds } = {}) => {
    let now = 0;
    return {
      store: new InMemoryStateStore({ ttlSeconds, now: () => now }),
      advanceTime: (milliseconds) => {
        now += milliseconds;
      },
    };
  },
});

testFileStore({ name: "core, in memory", cannot, open: async () => ({ store: new InMemoryFileStore() }) });
