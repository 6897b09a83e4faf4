import {
  AgentFrameworkError,
  HistoryProvider,
  InMemoryHistoryStore,
  InMemoryStateStore,
  type Tool,
} from "@agentfw/core";
import { DataPointType, type MetricData } from "@opentelemetry/sdk-metrics";
import { describe, expect, it } from "vitest";
import { agentOf, call, failureOf, model, useAsyncContext, Watch } from "./support.ts";

useAsyncContext();

const look: Tool = { name: "look", parameters: { type: "object" }, execute: () => "seen" };
const usage = { type: "usage", details: { inputTokenCount: 100, outputTokenCount: 7 } } as const;

/** A run with one tool call, watched. */
async function aRun(): Promise<Watch> {
  const watch = new Watch({ model: "gpt-x", providerName: "openai" });
  const client = model([call("1", "look"), usage], [{ contents: [usage], model: "gpt-x-2026" }]);
  const store = watch.telemetry.historyStore(new InMemoryHistoryStore(), { name: "main" });
  const agent = agentOf(watch, client, { name: "cook", tools: [look], contextProviders: [new HistoryProvider(store)] });
  await agent.run("go", { session: agent.createSession() });
  return watch;
}

/** The bounds of a histogram's buckets; none for what is no histogram. */
function boundsOf(metric: MetricData | undefined): number[] {
  return metric?.dataPointType === DataPointType.HISTOGRAM
    ? (metric.dataPoints[0]?.value.buckets.boundaries ?? [])
    : [];
}

const chat = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "openai",
  "gen_ai.request.model": "gpt-x",
};

describe("what is measured of a run", () => {
  it("has the conventions' units and bounds", async () => {
    const watch = await aRun();
    const shapes = (await watch.metrics()).map((metric) => {
      const bounds = boundsOf(metric);
      return [metric.descriptor.name, metric.descriptor.unit, bounds[0], bounds.at(-1), bounds.length];
    });
    expect(shapes).toEqual([
      ["gen_ai.client.operation.duration", "s", 0.01, 81.92, 14],
      ["gen_ai.client.token.usage", "{token}", 1, 67_108_864, 14],
      ["gen_ai.invoke_agent.duration", "s", 0.1, 409.6, 13],
      ["gen_ai.execute_tool.duration", "s", 0.01, 81.92, 14],
      ["agentfw.run.active", "{run}", undefined, undefined, 0],
      ["agentfw.store.operation.duration", "s", 0.001, 10, 9],
      ["agentfw.store.operation.size", "By", 64, 67_108_864, 11],
    ]);
    expect(boundsOf(await watch.metric("gen_ai.client.operation.duration"))).toEqual([
      0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92,
    ]);
    expect(boundsOf(await watch.metric("gen_ai.client.token.usage"))).toEqual([
      1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
    ]);
  });

  it("counts each call once, with its tokens by type", async () => {
    const watch = await aRun();
    const answered = { ...chat, "gen_ai.response.model": "gpt-x-2026" };
    expect(await watch.counts("gen_ai.client.operation.duration")).toEqual([
      [chat, 1],
      [answered, 1],
    ]);
    expect(await watch.points("gen_ai.client.token.usage")).toEqual([
      [{ ...chat, "gen_ai.token.type": "input" }, 100],
      [{ ...chat, "gen_ai.token.type": "output" }, 7],
      [{ ...answered, "gen_ai.token.type": "input" }, 100],
      [{ ...answered, "gen_ai.token.type": "output" }, 7],
    ]);
    expect(await watch.counts("gen_ai.invoke_agent.duration")).toEqual([
      [{ "gen_ai.agent.name": "cook", "gen_ai.request.model": "gpt-x" }, 1],
    ]);
    expect(await watch.counts("gen_ai.execute_tool.duration")).toEqual([
      [{ "gen_ai.tool.name": "look", "gen_ai.agent.name": "cook" }, 1],
    ]);
    expect(await watch.points("agentfw.run.active")).toEqual([[{ "gen_ai.agent.name": "cook" }, 0]]);
  });

  it("tells failures apart by their code", async () => {
    const watch = new Watch();
    const failing: Tool = {
      ...look,
      execute: () => {
        throw new AgentFrameworkError("not_found", "there is none");
      },
    };
    const client = model([call("1", "look")], new AgentFrameworkError("unavailable", "busy"));
    await failureOf(agentOf(watch, client, { tools: [failing] }).run("go"));
    const types = async (name: string) => (await watch.counts(name)).map(([of]) => Reflect.get(of, "error.type"));
    expect(await types("gen_ai.client.operation.duration")).toEqual([undefined, "unavailable"]);
    expect(await types("gen_ai.execute_tool.duration")).toEqual(["not_found"]);
    expect(await types("gen_ai.invoke_agent.duration")).toEqual(["unavailable"]);
    expect(await watch.metric("gen_ai.client.token.usage")).toBeUndefined();
  });
});

describe("what is measured of stores", () => {
  it("is the time, the bytes and the conflicts of each method", async () => {
    const watch = new Watch();
    const store = watch.telemetry.stateStore(new InMemoryStateStore(), { name: "main" });
    await store.create("k", '{"ü":1}');
    await store.get("k");
    await failureOf(store.create("k", "{}"));
    const of = (operation: string, rest: object = {}) => ({
      "agentfw.store.port": "state",
      "agentfw.store.operation": operation,
      "agentfw.store.name": "main",
      ...rest,
    });
    expect(await watch.counts("agentfw.store.operation.duration")).toEqual([
      [of("create"), 1],
      [of("get"), 1],
      [of("create", { "error.type": "conflict" }), 1],
    ]);
    expect(await watch.points("agentfw.store.operation.size")).toEqual([
      [of("create"), 8],
      [of("get"), 8],
    ]);
    expect(await watch.points("agentfw.store.conflicts")).toEqual([[of("create"), 1]]);
  });
});

describe("diagnostics", () => {
  it("are counted by type, written into the span in which they happened, and handed on", async () => {
    const watch = new Watch();
    const heard: string[] = [];
    const onDiagnostic = watch.telemetry.onDiagnostic(({ type }) => heard.push(type));
    const failing: Tool = {
      ...look,
      execute: () => {
        throw new Error("no");
      },
    };
    const agent = agentOf(watch, model([call("1", "look")], "done"), { name: "cook", tools: [failing], onDiagnostic });
    await agent.run("go");
    const attributes = { "agentfw.diagnostic.type": "tool_failed", "agentfw.diagnostic.provider": "cook" };
    expect(await watch.points("agentfw.diagnostics")).toEqual([[attributes, 1]]);
    expect(watch.span("invoke_agent cook").events).toMatchObject([{ name: "agentfw.diagnostic", attributes }]);
    expect(heard).toEqual(["tool_failed"]);
  });

  it("are repairs too: a call that a crash left open is closed and counted", async () => {
    const watch = new Watch();
    const onDiagnostic = watch.telemetry.onDiagnostic();
    const store = watch.telemetry.historyStore(new InMemoryHistoryStore());
    const provider = new HistoryProvider(store, { onDiagnostic });
    const agent = agentOf(watch, model("done"), { contextProviders: [provider], onDiagnostic });
    const session = agent.createSession();
    await provider.conversation(session).append([
      { role: "user", contents: "go", messageId: "u" },
      { role: "assistant", contents: [call("1", "look")], messageId: "a" },
    ]);
    await agent.run("on", { session });
    const types = (await watch.points("agentfw.diagnostics")).map(([of]) => Reflect.get(of, "agentfw.diagnostic.type"));
    expect(types).toEqual(["open_call_closed"]);
    expect(watch.span("invoke_agent").events).toHaveLength(1);
  });
});
