import { testStateStore } from "@agentfw/provider-testing/vitest";
import { openOnEmulator } from "./support/open.ts";

testStateStore({
  name: "foundry-state-store on the emulator, with user isolation",
  open: (options) => openOnEmulator(options, true),
});
