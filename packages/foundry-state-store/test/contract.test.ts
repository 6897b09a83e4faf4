import { testStateStore } from "@agentfw/provider-testing/vitest";
import { openOnEmulator } from "./support/open.ts";

testStateStore({
  name: "foundry-state-store on the emulator",
  open: (options) => openOnEmulator(options),
});
