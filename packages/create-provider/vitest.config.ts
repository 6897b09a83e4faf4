import { mergeConfig } from "vitest/config";
import { testConfig } from "../../vitest.base.ts";

// The samples are no tests of this package: they are laid over rendered projects, and run there.
export default mergeConfig(testConfig(), { test: { exclude: ["test/fixtures/**"] } });
