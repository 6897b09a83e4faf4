import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { openHistoryLocally } from "./support/open-history.ts";

testHistoryStore({
  name: "FoundryHistoryStore on LocalStateStore",
  open: openHistoryLocally,
  cannot: {
    breakBackend: "the files are on this machine",
    stallBackend: "the files are on this machine",
    sharedClient: "there is no client",
  },
});
