import { mergeConfig } from "vitest/config";
import { testConfig } from "../../vitest.base.ts";

export default mergeConfig(testConfig(), {
  test: { globalSetup: ["test/support/build.ts", "test/support/servers.ts"], maxWorkers: 3 },
});
