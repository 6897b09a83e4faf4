import { defineConfig, mergeConfig } from "vitest/config";
import { testConfig } from "../../vitest.base.ts";

// The validation suite of LangGraph expects the test functions to be global.
export default mergeConfig(testConfig(), defineConfig({ test: { globals: true } }));
