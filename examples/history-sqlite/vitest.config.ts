import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    // A clause says itself what it missed. Where in the kit that was helps nobody, nor does the place of what is not
    // written yet.
    onStackTrace: ({ message }, { file }) =>
      !message.includes("is not written yet") && !/[\\/]@agentfw[\\/]provider-testing[\\/]/.test(file),
  },
});
