import { defineConfig, type ViteUserConfig } from "vitest/config";

/** How every package is tested. The JSON report is what the root test command counts. */
export function testConfig(): ViteUserConfig {
  return defineConfig({
    test: {
      include: ["test/**/*.test.ts"],
      reporters: ["default", ["json", { outputFile: ".reports/tests.json" }]],
      testTimeout: 30_000,
      hookTimeout: 30_000,
    },
  });
}
