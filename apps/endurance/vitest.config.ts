import { mergeConfig } from "vitest/config";
import { testConfig } from "../../vitest.base.ts";

// The files of one process share their connections and the embedded database; each test has data of its own.
export default mergeConfig(testConfig(), { test: { globalSetup: ["./test/support/servers.ts"], isolate: false } });
