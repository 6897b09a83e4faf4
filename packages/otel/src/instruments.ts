import type { Counter, Histogram, Meter, UpDownCounter } from "@opentelemetry/api";

/** Everything that is measured. */
export interface Instruments {
  readonly chatDuration: Histogram;
  readonly tokenUsage: Histogram;
  readonly runDuration: Histogram;
  readonly toolDuration: Histogram;
  readonly activeRuns: UpDownCounter;
  readonly waitingRuns: UpDownCounter;
  readonly storeDuration: Histogram;
  readonly storeBytes: Histogram;
  readonly conflicts: Counter;
  readonly diagnostics: Counter;
}

/** Powers of a number, as bounds. */
function steps(first: number, factor: number, count: number): number[] {
  // Rounded, because the conventions write 0.01 and not what the last bit makes of it.
  return Array.from({ length: count }, (_, index) => Number((first * factor ** index).toPrecision(12)));
}

// The bounds that the conventions advise. A run may take as long as its tools.
const OPERATION_SECONDS = steps(0.01, 2, 14);
const RUN_SECONDS = steps(0.1, 2, 13);
const TOKENS = steps(1, 4, 14);
// What the conventions advise for calls of a database.
const STORE_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];
const BYTES = steps(64, 4, 11);

/** Makes the instruments of a meter. */
export function createInstruments(meter: Meter): Instruments {
  const histogram = (name: string, unit: string, description: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries } });
  return {
    chatDuration: histogram("gen_ai.client.operation.duration", "s", "GenAI operation duration.", OPERATION_SECONDS),
    tokenUsage: histogram("gen_ai.client.token.usage", "{token}", "Number of input and output tokens used.", TOKENS),
    runDuration: histogram("gen_ai.invoke_agent.duration", "s", "Duration of a run.", RUN_SECONDS),
    toolDuration: histogram("gen_ai.execute_tool.duration", "s", "Duration of a tool call.", OPERATION_SECONDS),
    activeRuns: meter.createUpDownCounter("agentfw.run.active", {
      unit: "{run}",
      description: "Runs under way, those that wait included.",
    }),
    waitingRuns: meter.createUpDownCounter("agentfw.run.waiting", {
      unit: "{run}",
      description: "Runs that wait behind another one on their conversation.",
    }),
    storeDuration: histogram("agentfw.store.operation.duration", "s", "Duration of a store call.", STORE_SECONDS),
    storeBytes: histogram("agentfw.store.operation.size", "By", "Text that a store call wrote or read.", BYTES),
    conflicts: meter.createCounter("agentfw.store.conflicts", {
      unit: "{conflict}",
      description: "Store calls that were refused because someone else came first.",
    }),
    diagnostics: meter.createCounter("agentfw.diagnostics", {
      unit: "{event}",
      description: "What was repaired, skipped, cut or retried, by type.",
    }),
  };
}
