import { Agent, type AgentOptions } from "@agentfw/agent";
import type { ChatClient, ChatRequestOptions, ChatUpdate, Content, Message } from "@agentfw/core";
import { context, SpanKind } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { Telemetry, type TelemetryOptions } from "../src/index.ts";

/** As the SDK for Node does it when it is started. */
export function useAsyncContext(): void {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
}

/** Telemetry that goes to an SDK in this process, and what the SDK got. */
export class Watch {
  readonly telemetry: Telemetry;
  readonly tracerProvider: BasicTracerProvider;
  readonly #exporter = new InMemorySpanExporter();
  /** The ids of all spans in the order of their beginnings; clocks are too coarse to tell. */
  readonly #begun: string[] = [];
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
    exportIntervalMillis: 3_600_000,
  });

  constructor(options: TelemetryOptions = {}, processors: readonly SpanProcessor[] = []) {
    const begun: SpanProcessor = {
      onStart: (span) => this.#begun.push(span.spanContext().spanId),
      onEnd: () => undefined,
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    };
    this.tracerProvider = new BasicTracerProvider({
      spanProcessors: [begun, ...processors, new SimpleSpanProcessor(this.#exporter)],
    });
    const meterProvider = new MeterProvider({ readers: [this.#reader] });
    this.telemetry = new Telemetry({ tracerProvider: this.tracerProvider, meterProvider, ...options });
  }

  /** The spans that have ended, in the order of their ends. */
  get spans(): ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  /** The one span of this name. */
  span(name: string): ReadableSpan {
    const [span, ...others] = this.spans.filter((candidate) => candidate.name === name);
    if (span === undefined || others.length > 0) {
      throw new Error(`${others.length + (span ? 1 : 0)} spans are named ${name}: ${this.names().join(", ")}`);
    }
    return span;
  }

  names(): string[] {
    return this.spans.map(({ name }) => name);
  }

  /** The names of the spans, each behind its parent's and indented below it, in the order of their beginnings. */
  tree(): string[] {
    const place = (span: ReadableSpan) => this.#begun.indexOf(span.spanContext().spanId);
    const byStart = [...this.spans].sort((left, right) => place(left) - place(right));
    const below = (parent: string | undefined, indent: string): string[] =>
      byStart
        .filter((span) => span.parentSpanContext?.spanId === parent)
        .flatMap((span) => [indent + span.name, ...below(span.spanContext().spanId, `${indent}  `)]);
    return below(undefined, "");
  }

  /** What was measured under a name; nothing when nothing was. */
  async metric(name: string): Promise<MetricData | undefined> {
    const { resourceMetrics } = await this.#reader.collect();
    return resourceMetrics.scopeMetrics
      .flatMap(({ metrics }) => metrics)
      .find(({ descriptor }) => descriptor.name === name);
  }

  /** All that was measured. */
  async metrics(): Promise<MetricData[]> {
    const { resourceMetrics } = await this.#reader.collect();
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
  }

  /** The points of a metric, as `[attributes, value]`; the value of a histogram is its sum. */
  async points(name: string): Promise<[attributes: object, value: number][]> {
    return this.#read(name, ({ sum = 0 }) => sum);
  }

  /** The points of a histogram, as `[attributes, how often]`. */
  async counts(name: string): Promise<[attributes: object, count: number][]> {
    return this.#read(name, ({ count }) => count);
  }

  async #read(name: string, of: (histogram: Pick<Histogram, "sum" | "count">) => number): Promise<[object, number][]> {
    const metric = await this.metric(name);
    const points: readonly DataPoint<unknown>[] = metric?.dataPoints ?? [];
    return points.map(({ attributes, value }) => [
      attributes,
      typeof value === "number" ? value : of(value as Histogram),
    ]);
  }
}

/** What a model says: text, contents, pieces, an error, or a stream of its own. */
export type Answer =
  | string
  | Error
  | readonly Content[]
  | readonly ChatUpdate[]
  | ((messages: readonly Message[], options: ChatRequestOptions) => AsyncIterable<ChatUpdate>);

/** A model that answers from a list. */
export function model(...answers: Answer[]): ChatClient {
  return {
    contractVersion: 1,
    storesByDefault: false,
    async *stream(messages, options) {
      const answer = answers.shift();
      if (typeof answer === "function") {
        yield* answer(messages, options);
      } else if (typeof answer === "string") {
        yield { contents: [{ type: "text", text: answer }], finishReason: "stop" };
      } else if (answer instanceof Error || answer === undefined) {
        throw answer ?? new Error("the script has no further answer");
      } else {
        for (const entry of answer) {
          options.signal?.throwIfAborted();
          yield "type" in entry ? { contents: [entry] } : entry;
        }
      }
    },
  };
}

/** A call of a tool, as a model asks for it. */
export function call(callId: string, name: string, args: object = {}): Content {
  return { type: "function_call", callId, name, arguments: JSON.stringify(args) };
}

/** One piece of text. */
export function piece(text: string): ChatUpdate {
  return { contents: [{ type: "text", text }] };
}

/** An agent that is watched. */
export function agentOf(watch: Watch, client: ChatClient, options: Omit<AgentOptions, "client"> = {}): Agent {
  return new Agent({ client, middleware: watch.telemetry.middleware, ...options });
}

/** What a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("it was expected to reject");
    },
    (error: unknown) => error,
  );
}

/** A promise and the function that settles it. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  let release = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { passed, open: () => release() };
}

export { SpanKind };
