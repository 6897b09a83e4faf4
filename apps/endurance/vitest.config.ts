import { mergeConfig } from "vitest/config";
import { testConfig } from "../../vitest.base.ts";

export default mergeConfig(testConfig(), {
  test: {
    globalSetup: ["./test/support/servers.ts"],
    // The files of one process share its connections and its embedded database; each test has data of its own.
    isolate: false,
    // The embedded database alone takes seconds to start, and many on a busy machine.
    testTimeout: 120_000,
  },
});
