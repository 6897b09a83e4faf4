import { mergeConfig } from "vitest/config";
import { testConfig } from "../../vitest.base.ts";

export default mergeConfig(testConfig(), {
  test: {
    globalSetup: ["./test/support/servers.ts"],
    // The files of one process share its connections and its embedded database; each test has data of its own.
    isolate: false,
    // They wait for servers and processes more than they work, also where there are two cores.
    maxWorkers: 2,
    // The embedded database alone takes seconds to start, and many on a busy machine.
    testTimeout: 120_000,
  },
});
