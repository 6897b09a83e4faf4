import { testStateStore } from "@agentfw/provider-testing/vitest";
import { openLocal } from "./support/open.ts";

testStateStore({
  name: "LocalStateStore",
  open: openLocal,
  cannot: {
    breakBackend: "the files are on this machine",
    stallBackend: "the files are on this machine",
    sharedClient: "there is no client",
  },
});
