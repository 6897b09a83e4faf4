import { getEventListeners } from "node:events";
import { Agent, agentMiddleware } from "@agentfw/agent";
import { AgentFrameworkError, HistoryProvider, InMemoryHistoryStore, type Tool } from "@agentfw/core";
import { SpanStatusCode, trace } from "@opentelemetry/api";
import { describe, expect, it, vi } from "vitest";
import { agentOf, call, failureOf, gate, model, piece, SpanKind, useAsyncContext, Watch } from "./support.ts";

useAsyncContext();

const look: Tool = { name: "look", description: "Looks.", parameters: { type: "object" }, execute: () => "seen" };

describe("the spans of a run", () => {
  it("nest: store, model and tool inside of the run, in their order", async () => {
    const watch = new Watch({ model: "gpt-x" });
    const store = watch.telemetry.historyStore(new InMemoryHistoryStore());
    const agent = agentOf(watch, model([call("1", "look")], "done"), {
      name: "cook",
      tools: [look],
      contextProviders: [new HistoryProvider(store)],
    });
    await agent.run("go", { session: agent.createSession() });
    expect(watch.tree()).toEqual([
      "invoke_agent cook",
      "  history_store.read",
      "  chat gpt-x",
      "  execute_tool look",
      "  chat gpt-x",
      "  history_store.append",
    ]);
    expect(watch.spans.every(({ ended }) => ended)).toBe(true);
  });

  it("carry the conventions' names, kinds and attributes", async () => {
    const watch = new Watch({ model: "gpt-x", providerName: "openai" });
    const usage = { type: "usage", details: { inputTokenCount: 5, outputTokenCount: 2 } } as const;
    const client = model(
      [call("c1", "look"), usage],
      [{ contents: [{ type: "text", text: "done" }, usage] }, { finishReason: "stop" }],
    );
    const agent = agentOf(watch, client, { name: "cook", description: "Cooks.", tools: [look] });
    await agent.run("go");
    const run = watch.span("invoke_agent cook");
    expect(run.kind).toBe(SpanKind.INTERNAL);
    expect(run.attributes).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-x",
      "gen_ai.agent.name": "cook",
      "gen_ai.agent.description": "Cooks.",
      "gen_ai.usage.input_tokens": 10,
      "gen_ai.usage.output_tokens": 4,
      "gen_ai.response.finish_reasons": ["stop"],
    });
    expect(run.status.code).toBe(SpanStatusCode.UNSET);
    const tool = watch.span("execute_tool look");
    expect(tool.kind).toBe(SpanKind.INTERNAL);
    expect(tool.attributes).toEqual({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "look",
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": "c1",
      "gen_ai.tool.description": "Looks.",
    });
    expect(run.instrumentationScope).toMatchObject({
      name: "@agentfw/otel",
      schemaUrl: "https://opentelemetry.io/schemas/1.41.0",
    });
  });

  it("have a name of their own for an agent without one", async () => {
    const watch = new Watch();
    await agentOf(watch, model("hi")).run("go");
    expect(watch.names()).toEqual(["chat", "invoke_agent"]);
    expect(watch.span("invoke_agent").attributes).toEqual({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "_OTHER",
      "gen_ai.response.finish_reasons": ["stop"],
    });
  });

  it("stand below the span that the caller is in, which is the caller's again afterwards", async () => {
    const watch = new Watch();
    const agent = agentOf(watch, model("hi"));
    await watch.tracerProvider.getTracer("app").startActiveSpan("request", async (request) => {
      await agent.run("go");
      expect(trace.getActiveSpan()).toBe(request);
      request.end();
    });
    expect(watch.tree()).toEqual(["request", "  invoke_agent", "    chat"]);
  });

  it("leave the reader of a stream in the reader's own span, piece by piece", async () => {
    const watch = new Watch();
    const agent = agentOf(watch, model([piece("a"), piece("b"), piece("c")]));
    await watch.tracerProvider.getTracer("app").startActiveSpan("request", async (request) => {
      for await (const _ of agent.runStream("go")) {
        expect(trace.getActiveSpan()).toBe(request);
      }
      request.end();
    });
  });

  it("surround what tools and models begin themselves, agents as tools included", async () => {
    const watch = new Watch();
    const inner = agentOf(watch, model("inner"), { name: "inner" });
    const own = watch.tracerProvider.getTracer("app");
    const http = (name: string) => own.startSpan(name).end();
    const client = model(async function* () {
      http("POST 1");
      yield piece("a");
      http("POST 2");
      yield { contents: [call("1", "ask_inner", { task: "go" })] };
    }, "done");
    const tool = inner.asTool({ name: "ask_inner" });
    const agent = agentOf(watch, client, { name: "outer", tools: [tool] });
    await agent.run("go");
    expect(watch.tree()).toEqual([
      "invoke_agent outer",
      "  chat",
      "    POST 1",
      "    POST 2",
      "  execute_tool ask_inner",
      "    invoke_agent inner",
      "      chat",
      "  chat",
    ]);
  });

  it("keep inside of the run what middleware does behind the telemetry, between pieces too", async () => {
    const watch = new Watch();
    const own = watch.tracerProvider.getTracer("app");
    const noting = agentMiddleware(async function* (_, next) {
      for await (const update of next()) {
        own.startSpan("between").end();
        yield update;
      }
    });
    const agent = new Agent({
      client: model([piece("a"), piece("b")]),
      middleware: [...watch.telemetry.middleware, noting],
    });
    for await (const _ of agent.runStream("go")) {
      // Reading is what makes the run go on.
    }
    expect(watch.tree()).toEqual(["invoke_agent", "  chat", "  between", "  between"]);
  });

  it("of runs side by side never mix", async () => {
    const watch = new Watch();
    let ticks = 0;
    const tools: Tool[] = [
      { ...look, execute: () => new Promise((resolve) => setTimeout(resolve, (ticks++ * 7) % 5, "seen")) },
    ];
    const store = watch.telemetry.historyStore(new InMemoryHistoryStore());
    const runs = Array.from({ length: 40 }, async (_, index) => {
      const agent = agentOf(watch, model([call("1", "look"), call("2", "look")], `done ${index}`), {
        name: `agent ${index}`,
        tools,
        contextProviders: [new HistoryProvider(store)],
      });
      // Callers number the runs of every conversation alike.
      await agent.run("go", { session: agent.createSession(), runId: "run-1" });
    });
    await Promise.all(runs);
    const traces = new Map<string, string[]>();
    for (const span of watch.spans) {
      const { traceId } = span.spanContext();
      traces.set(traceId, [...(traces.get(traceId) ?? []), span.name]);
    }
    expect(traces.size).toBe(40);
    const rest = [
      "chat",
      "chat",
      "execute_tool look",
      "execute_tool look",
      "history_store.append",
      "history_store.read",
    ];
    for (const names of traces.values()) {
      expect(names.filter((name) => !name.startsWith("invoke_agent")).sort()).toEqual(rest);
    }
  });
});

describe("the span of a stream", () => {
  it("begins with the first piece that is asked for and is open until the last one was read", async () => {
    const watch = new Watch();
    const stream = agentOf(watch, model([piece("a"), piece("b")]))
      .runStream("go")
      [Symbol.asyncIterator]();
    expect((await stream.next()).done).toBe(false);
    expect((await stream.next()).done).toBe(false);
    expect(watch.names()).not.toContain("invoke_agent");
    expect((await stream.next()).done).toBe(true);
    expect(watch.names()).toContain("invoke_agent");
    expect(watch.span("invoke_agent").attributes).not.toHaveProperty("error.type");
  });

  it("ends when its reader leaves, behind what the run still stores", async () => {
    const watch = new Watch();
    const store = watch.telemetry.historyStore(new InMemoryHistoryStore());
    const agent = agentOf(watch, model([piece("a"), piece("b")]), {
      contextProviders: [new HistoryProvider(store, { keepPartial: true })],
    });
    for await (const _ of agent.runStream("go", { session: agent.createSession() })) {
      break;
    }
    expect(watch.names()).toEqual(["history_store.read", "chat", "history_store.append", "invoke_agent"]);
    for (const name of ["chat", "invoke_agent"]) {
      expect(watch.span(name).attributes["error.type"]).toBe("AbortError");
    }
  });

  it("has in it what middleware and models clean up when the reader leaves", async () => {
    const watch = new Watch();
    const own = watch.tracerProvider.getTracer("app");
    const cleaning = agentMiddleware(async function* (_, next) {
      try {
        yield* next();
      } finally {
        own.startSpan("middleware").end();
      }
    });
    const client = model(async function* () {
      try {
        yield piece("a");
        yield piece("b");
      } finally {
        own.startSpan("model").end();
      }
    });
    const agent = new Agent({ client, middleware: [...watch.telemetry.middleware, cleaning] });
    await own.startActiveSpan("request", async (request) => {
      for await (const _ of agent.runStream("go")) {
        break;
      }
      request.end();
    });
    expect(watch.tree()).toEqual(["request", "  invoke_agent", "    chat", "      model", "    middleware"]);
  });

  it("leaves no listener on the caller's signal", async () => {
    const watch = new Watch();
    const { signal } = new AbortController();
    const agent = agentOf(watch, model("a", [piece("b"), piece("c")], new Error("no")));
    await agent.run("go", { signal });
    for await (const _ of agent.runStream("go", { signal })) {
      break;
    }
    await failureOf(agent.run("go", { signal }));
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("is none when nobody asks for a piece", async () => {
    const watch = new Watch();
    const stream = agentOf(watch, model("a")).runStream("go")[Symbol.asyncIterator]();
    await stream.return(undefined);
    expect(watch.spans).toEqual([]);
  });

  it("ends with an abort although its reader is away", async () => {
    const watch = new Watch();
    const controller = new AbortController();
    const agent = agentOf(watch, model([piece("a"), piece("b")]));
    const stream = agent.runStream("go", { signal: controller.signal })[Symbol.asyncIterator]();
    await stream.next();
    controller.abort();
    expect(watch.span("invoke_agent").attributes["error.type"]).toBe("AbortError");
    await vi.waitFor(() => expect(watch.names()).toContain("chat"));
    await failureOf(stream.next());
    expect(watch.names().filter((name) => name === "invoke_agent")).toHaveLength(1);
  });
});

describe("a run that fails", () => {
  it("says why by our error code", async () => {
    const watch = new Watch();
    const error = new AgentFrameworkError("unavailable", "the model is busy: secret");
    expect(await failureOf(agentOf(watch, model(error)).run("go"))).toBe(error);
    for (const name of ["chat", "invoke_agent"]) {
      const { attributes, status, events } = watch.span(name);
      expect(attributes["error.type"]).toBe("unavailable");
      expect(status).toEqual({ code: SpanStatusCode.ERROR });
      expect(events).toEqual([]);
    }
  });

  it("says why by the class of an error that is not ours, when that is a plain name", async () => {
    class RateLimited extends Error {}
    const odd = Object.assign(new Error("no"), { name: "user 42 said: secret" });
    const types: unknown[] = [];
    for (const error of [new RateLimited("no"), new TypeError("no"), odd]) {
      const watch = new Watch();
      await failureOf(agentOf(watch, model(error)).run("go"));
      types.push(watch.span("invoke_agent").attributes["error.type"]);
    }
    expect(types).toEqual(["RateLimited", "TypeError", "_OTHER"]);
  });

  it("tells of an abort, whatever its reason is", async () => {
    const reasons = [
      undefined,
      "the user left",
      new Error("the user left"),
      new AgentFrameworkError("timeout", "too long"),
    ];
    const types: unknown[] = [];
    for (const reason of reasons) {
      const watch = new Watch();
      const controller = new AbortController();
      const client = model(async function* (_, { signal }) {
        yield piece("a");
        controller.abort(reason);
        await new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
      });
      await failureOf(agentOf(watch, client).run("go", { signal: controller.signal }));
      types.push(watch.span("invoke_agent").attributes["error.type"]);
      expect(watch.span("chat").attributes["error.type"]).toBeDefined();
    }
    expect(types).toEqual(["AbortError", "AbortError", "AbortError", "timeout"]);
  });

  it("ends the model call that heeds no abort", async () => {
    const watch = new Watch();
    const controller = new AbortController();
    const client = model(async function* () {
      yield piece("a");
      controller.abort();
      await new Promise(() => undefined);
    });
    await failureOf(agentOf(watch, client).run("go", { signal: controller.signal }));
    expect(watch.names()).toEqual(["chat", "invoke_agent"]);
    expect(watch.span("chat").attributes["error.type"]).toBe("AbortError");
  });

  it("is told when the store failed behind the answer", async () => {
    const watch = new Watch();
    class Full extends InMemoryHistoryStore {
      override append(): Promise<never> {
        return Promise.reject(new AgentFrameworkError("unavailable", "full"));
      }
    }
    const agent = agentOf(watch, model("hi"), {
      contextProviders: [new HistoryProvider(watch.telemetry.historyStore(new Full()))],
    });
    await failureOf(agent.run("go", { session: agent.createSession() }));
    expect(watch.span("history_store.append").attributes["error.type"]).toBe("unavailable");
    expect(watch.span("invoke_agent").attributes["error.type"]).toBe("unavailable");
    expect(watch.span("chat").attributes).not.toHaveProperty("error.type");
  });
});

describe("the span of a tool", () => {
  it("tells of a tool that failed, although the run goes on", async () => {
    const watch = new Watch();
    const failing: Tool = {
      ...look,
      execute: () => {
        throw new RangeError("too far");
      },
    };
    const response = await agentOf(watch, model([call("1", "look")], "done"), { tools: [failing] }).run("go");
    expect(response.text).toBe("done");
    expect(watch.span("execute_tool look").attributes["error.type"]).toBe("RangeError");
    expect(watch.span("invoke_agent").attributes).not.toHaveProperty("error.type");
  });

  it("ends with its run when the tool heeds no abort", async () => {
    const watch = new Watch();
    const controller = new AbortController();
    const stuck = gate();
    const hanging: Tool = {
      ...look,
      execute: () => {
        controller.abort();
        return stuck.passed;
      },
    };
    const agent = agentOf(watch, model([call("1", "look")]), { tools: [hanging] });
    await failureOf(agent.run("go", { signal: controller.signal }));
    expect(watch.names()).toEqual(["chat", "execute_tool look", "invoke_agent"]);
    expect(watch.span("execute_tool look").attributes["error.type"]).toBe("AbortError");
    stuck.open();
    await vi.waitFor(async () => expect(await watch.counts("gen_ai.execute_tool.duration")).toMatchObject([[{}, 1]]));
    expect(watch.spans).toHaveLength(3);
  });
});

describe("a run that has to wait", () => {
  const cook = { "gen_ai.agent.name": "cook" };

  it("shows the wait as a span of its own, and is counted while it lasts", async () => {
    const watch = new Watch();
    const agent = agentOf(watch, model([piece("a"), piece("b")], "c"), { name: "cook" });
    const session = agent.createSession();
    const first = agent.runStream("go", { session })[Symbol.asyncIterator]();
    await first.next();
    const second = agent.run("go", { session });
    await vi.waitFor(async () => expect(await watch.points("agentfw.run.waiting")).toEqual([[cook, 1]]));
    expect(await watch.points("agentfw.run.active")).toEqual([[cook, 2]]);
    await first.next();
    await first.next();
    await second;
    expect(watch.tree()).toEqual([
      "invoke_agent cook",
      "  chat",
      "invoke_agent cook",
      "  wait_for_conversation",
      "  chat",
    ]);
    expect(await watch.points("agentfw.run.waiting")).toEqual([[cook, 0]]);
    expect(await watch.points("agentfw.run.active")).toEqual([[cook, 0]]);
  });

  it("lets other middleware hear of the wait too", async () => {
    const watch = new Watch();
    const log: string[] = [];
    const listening = agentMiddleware((invocation, next) => {
      invocation.onWait = () => {
        log.push("waits");
        return () => log.push("waits no longer");
      };
      return next();
    });
    const agent = new Agent({
      client: model([piece("a")], "b"),
      middleware: [listening, ...watch.telemetry.middleware],
    });
    const session = agent.createSession();
    const first = agent.runStream("go", { session })[Symbol.asyncIterator]();
    await first.next();
    const second = agent.run("go", { session });
    await vi.waitFor(() => expect(log).toEqual(["waits"]));
    await first.next();
    await second;
    expect(log).toEqual(["waits", "waits no longer"]);
    expect(watch.names()).toContain("wait_for_conversation");
  });
});
