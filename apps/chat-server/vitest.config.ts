import { mergeConfig } from "vitest/config";
import { testConfig } from "../../vitest.base.ts";

// Most of these tests wait for other processes, which a busy machine starts slowly.
export default mergeConfig(testConfig(), {
  test: {
    globalSetup: ["test/support/build.ts", "test/support/servers.ts"],
    maxWorkers: 3,
    testTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
});
