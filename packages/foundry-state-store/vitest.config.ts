import { defineConfig, mergeConfig } from "vitest/config";
import { testConfig } from "../../vitest.base.ts";

// The validation suite of LangGraph expects the test functions to be global. Much here waits for locks and deadlines, so two
// files at once take little more than one.
export default mergeConfig(testConfig(), defineConfig({ test: { globals: true, maxWorkers: 2 } }));
