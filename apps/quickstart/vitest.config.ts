import { mergeConfig } from "vitest/config";
import { testConfig } from "../../vitest.base.ts";

// It is the last of the tests to end, and each of its files starts programs of its own.
export default mergeConfig(testConfig(), { test: { globalSetup: ["test/support/build.ts"], maxWorkers: 2 } });
