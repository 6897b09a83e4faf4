import { importJob } from "../import-time.ts";
import type { Backend } from "../measurement.ts";

/** The chat client. What it costs beyond its import is the service's time. */
export const openaiBackend: Backend = {
  name: "openai",
  jobs: { import: (context) => importJob(context, { folder: "openai", driver: "openai" }) },
};
