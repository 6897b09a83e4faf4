import { defineConfig, mergeConfig } from "vitest/config";
import { testConfig } from "../../vitest.base.ts";

export default mergeConfig(testConfig(), defineConfig({ test: { globalSetup: ["test/support/servers.ts"] } }));
