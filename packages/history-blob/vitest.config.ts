import { defineConfig, mergeConfig } from "vitest/config";
import { testConfig } from "../../vitest.base.ts";

export default mergeConfig(
  testConfig(),
  // Most of the time is spent waiting for the server.
  defineConfig({ test: { globalSetup: ["test/support/servers.ts"], maxWorkers: 2 } }),
);
