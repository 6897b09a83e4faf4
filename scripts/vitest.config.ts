import { mergeConfig } from "vitest/config";
import { testConfig } from "../vitest.base.ts";

export default mergeConfig(testConfig(), { test: { include: ["test/**/*.test.mjs"] } });
