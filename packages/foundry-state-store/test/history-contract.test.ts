import { testHistoryStore } from "@agentfw/provider-testing/vitest";
import { openHistoryOnEmulator } from "./support/open-history.ts";

testHistoryStore({
  name: "FoundryHistoryStore on the emulator",
  open: (options) => openHistoryOnEmulator(options),
});
