import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { openHistoryLocally } from "./support/open-history.ts";

testHistoryStore({
  name: "FoundryHistoryStore on LocalStateStore",
  open: openHistoryLocally,
  cannot: {
    breakBackend: "the files are on this machine",
    stallBackend: "the files are on this machine",
    loseNextReply: "there is no connection on which a reply could be lost",
    sharedClient: "there is no client",
  },
});
