import { agentMiddleware, chatMiddleware, functionMiddleware } from "@agentfw/agent";
import { Telemetry, type TelemetryOptions } from "@agentfw/otel";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, NoopSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { LOADED_MESSAGES } from "../conversation.ts";
import type { Backend, OpenJob, Operation } from "../measurement.ts";
import { instantClient, storeAgent, wholeRuns } from "./run.ts";

/** A run that is watched, against the same run that is not. Measured last: what follows contexts slows a process down. */
export const runWatchedBackend: Backend = {
  name: "run-otel",
  jobs: {
    "run-overhead": async (): Promise<OpenJob> => {
      const client = instantClient(1);
      context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
      const sdk = { tracerProvider: tracerProvider(), meterProvider: meterProvider() };
      return {
        contenders: [
          await wholeRuns("raw", await storeAgent(client, LOADED_MESSAGES)),
          await wholeRuns("idle middleware", await storeAgent(client, LOADED_MESSAGES, idleMiddleware())),
          await watched("agentfw, no SDK", {}),
          await watched("agentfw, SDK", sdk),
        ],
        close: async () => {
          context.disable();
          await sdk.meterProvider.shutdown();
        },
      };
    },
  },
};

async function watched(name: string, options: TelemetryOptions): Promise<Operation> {
  const telemetry = new Telemetry(options);
  const watch = telemetry.historyStore.bind(telemetry);
  return wholeRuns(
    name,
    await storeAgent(instantClient(1), LOADED_MESSAGES, telemetry.middleware, (store) => watch(store)),
  );
}

/** Of each kind, and does nothing: what any middleware costs. */
function idleMiddleware() {
  return [
    agentMiddleware((_, next) => next()),
    chatMiddleware((_, next) => next()),
    functionMiddleware((_, next) => next()),
  ];
}

/** Makes spans in full and sends them nowhere: exporting is not ours. */
function tracerProvider(): BasicTracerProvider {
  return new BasicTracerProvider({ spanProcessors: [new NoopSpanProcessor()] });
}

/** Sums up what is measured, and is never asked. */
function meterProvider(): MeterProvider {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  return new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })],
  });
}
