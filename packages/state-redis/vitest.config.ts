import { defineConfig, mergeConfig } from "vitest/config";
import { testConfig } from "../../vitest.base.ts";

// Most of these tests wait for outages to end or for items to expire, so several files at once take little more of the
// machine than one.
export default mergeConfig(
  testConfig(),
  defineConfig({ test: { globalSetup: ["test/support/servers.ts"], maxWorkers: 3 } }),
);
