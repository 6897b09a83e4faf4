export type { TelemetryOptions } from "./options.ts";
export type { RunInvocation, RunMiddleware, RunUpdate } from "./run-middleware.ts";
export { Telemetry, type TelemetryMiddleware, type WatchedStoreOptions } from "./telemetry.ts";
