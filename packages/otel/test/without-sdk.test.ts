import { Agent } from "@agentfw/agent";
import { HistoryProvider, InMemoryHistoryStore, type Tool } from "@agentfw/core";
import { context, metrics, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  AlwaysOffSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterEach, describe, expect, it } from "vitest";
import { Telemetry } from "../src/index.ts";
import { agentOf, call, failureOf, model, piece, Watch } from "./support.ts";

afterEach(() => {
  trace.disable();
  metrics.disable();
  context.disable();
});

const key = { owner: null, source: "main", session: "s" };
const look: Tool = { name: "look", parameters: { type: "object" }, execute: () => "seen" };

/** An agent with a store, watched by whatever is registered globally. */
function globally(telemetry: Telemetry, ...answers: Parameters<typeof model>) {
  const store = telemetry.historyStore(new InMemoryHistoryStore());
  return new Agent({
    client: model(...answers),
    tools: [look],
    middleware: telemetry.middleware,
    contextProviders: [new HistoryProvider(store)],
  });
}

describe("without an SDK", () => {
  it("runs, streams, tools and stores do what they do", async () => {
    const agent = globally(new Telemetry(), [call("1", "look")], [piece("a"), piece("b")], "c", new TypeError("no"));
    const session = agent.createSession();
    expect((await agent.run("go", { session })).text).toBe("ab");
    for await (const _ of agent.runStream("on", { session })) {
      break;
    }
    expect(await failureOf(agent.run("on", { session }))).toBeInstanceOf(TypeError);
  });

  it("nothing stands between a call and its store, a tool and its run", async () => {
    const telemetry = new Telemetry();
    const [, , tool] = telemetry.middleware;
    const result = Promise.resolve("seen");
    expect(tool.handle({ tool: look, context: {} } as never, () => result)).toBe(result);
    const page = Promise.resolve({ records: [], version: "" });
    class Plain extends InMemoryHistoryStore {
      override read() {
        return page;
      }
    }
    const store: InMemoryHistoryStore = telemetry.historyStore(new Plain());
    expect(store.read(key)).toBe(page);
  });

  it("no listener is left on a signal", async () => {
    const { signal } = new AbortController();
    const kept: string[] = [];
    const add = signal.addEventListener.bind(signal);
    const count = async (telemetry: Telemetry) => {
      kept.length = 0;
      signal.addEventListener = (type: string, ...rest: [never]) => {
        kept.push(type);
        add(type, ...rest);
      };
      await new Agent({ client: model("hi"), middleware: telemetry.middleware }).run("go", { signal });
      return kept.length;
    };
    const plain = await count({ middleware: [] } as never);
    expect(await count(new Telemetry())).toBe(plain);
  });
});

describe("an SDK that is registered", () => {
  it("after the telemetry was made gets everything", async () => {
    const agent = globally(new Telemetry(), "before", "after");
    await agent.run("go");
    const exporter = new InMemorySpanExporter();
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
    const reader = new PeriodicExportingMetricReader({
      exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
      exportIntervalMillis: 3_600_000,
    });
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    await agent.run("go");
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(["chat", "invoke_agent"]);
    const { resourceMetrics } = await reader.collect();
    expect(resourceMetrics.scopeMetrics.map(({ scope }) => scope.name)).toEqual(["@agentfw/otel"]);
  });

  it("for metrics alone gets them", async () => {
    const watch = new Watch({ tracerProvider: undefined });
    await agentOf(watch, model("hi")).run("go");
    expect(watch.spans).toEqual([]);
    expect(await watch.counts("gen_ai.invoke_agent.duration")).toHaveLength(1);
  });

  it("for spans alone gets them", async () => {
    const watch = new Watch({ meterProvider: undefined });
    await agentOf(watch, model("hi")).run("go");
    expect(watch.names()).toEqual(["chat", "invoke_agent"]);
    expect(await watch.metrics()).toEqual([]);
  });

  it("and samples a run out, samples all of it out", async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    const exporter = new InMemorySpanExporter();
    const tracerProvider = new BasicTracerProvider({
      // What forgot the run that it is part of would begin a trace of its own.
      sampler: new ParentBasedSampler({ root: new AlwaysOffSampler() }),
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    });
    const watch = new Watch({ tracerProvider, captureContent: true });
    const traces = new Set<string | undefined>();
    const noting: Tool = { ...look, execute: () => void traces.add(trace.getActiveSpan()?.spanContext().traceId) };
    const agent = agentOf(watch, model([call("1", "look"), call("2", "look")], "done"), { tools: [noting] });
    await agent.run("go");
    expect(exporter.getFinishedSpans()).toEqual([]);
    expect([...traces]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    expect(await watch.counts("gen_ai.invoke_agent.duration")).toHaveLength(1);
  });
});
