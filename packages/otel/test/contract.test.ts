import { InMemoryFileStore, InMemoryHistoryStore, InMemoryStateStore } from "@agentfw/core";
import { testFileStore, testHistoryStore, testStateStore } from "@agentfw/provider-testing/vitest";
import { useAsyncContext, Watch } from "./support.ts";

useAsyncContext();

const inMemory = "the data lives in the object itself";
const cannot = {
  another: inMemory,
  breakBackend: inMemory,
  loseNextReply: inMemory,
  stallBackend: inMemory,
  sharedClient: inMemory,
  corrupt: "records are held as they were checked",
  plantLink: "there are no links in memory",
};

/** All that can be written down is. */
function telemetry() {
  return new Watch({ captureContent: true, captureErrors: true, captureIds: true, captureOwner: true }).telemetry;
}

testHistoryStore({
  name: "core, in memory, watched",
  cannot,
  open: async ({ ttlSeconds, maxRecords } = {}) => {
    let now = 0;
    return {
      store: telemetry().historyStore(new InMemoryHistoryStore({ ttlSeconds, maxRecords, now: () => now })),
      advanceTime: (milliseconds) => {
        now += milliseconds;
      },
    };
  },
});

testStateStore({
  name: "core, in memory, watched",
  cannot,
  open: async ({ ttlSeconds } = {}) => {
    let now = 0;
    return {
      store: telemetry().stateStore(new InMemoryStateStore({ ttlSeconds, now: () => now })),
      advanceTime: (milliseconds) => {
        now += milliseconds;
      },
    };
  },
});

testFileStore({
  name: "core, in memory, watched",
  cannot,
  open: async () => ({ store: telemetry().fileStore(new InMemoryFileStore()) }),
});
