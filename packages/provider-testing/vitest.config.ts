import { mergeConfig } from "vitest/config";
import { testConfig } from "../../vitest.base.ts";

// Most of these tests wait for deadlines and for expiry, so two files at once take little more of the machine than one.
export default mergeConfig(testConfig(), { test: { maxWorkers: 2 } });
