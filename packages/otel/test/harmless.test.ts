import { HistoryProvider, InMemoryHistoryStore, type Tool } from "@agentfw/core";
import { type DiagLogger, diag } from "@opentelemetry/api";
import type { SpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterEach, describe, expect, it } from "vitest";
import { Telemetry } from "../src/index.ts";
import { agentOf, call, failureOf, model, useAsyncContext, Watch } from "./support.ts";

useAsyncContext();

const faults: string[] = [];
const logger: DiagLogger = {
  error: (message) => faults.push(message),
  warn: (message) => faults.push(message),
  info: () => undefined,
  debug: () => undefined,
  verbose: () => undefined,
};

afterEach(() => {
  faults.length = 0;
  diag.disable();
});

const look: Tool = { name: "look", parameters: { type: "object" }, execute: () => "seen" };

/** A processor of somebody else's that fails at one of its steps. */
function failing(step: "onStart" | "onEnd"): SpanProcessor {
  const refuse = () => {
    throw new Error(`${step} failed`);
  };
  return {
    onStart: step === "onStart" ? refuse : () => undefined,
    onEnd: step === "onEnd" ? refuse : () => undefined,
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
}

describe("watching", () => {
  it.each(["onStart", "onEnd"] as const)(
    "changes no outcome when %s fails, and says so to OpenTelemetry",
    async (step) => {
      diag.setLogger(logger);
      const watch = new Watch({}, [failing(step)]);
      const store = watch.telemetry.historyStore(new InMemoryHistoryStore());
      const agent = agentOf(watch, model([call("1", "look")], "done"), {
        tools: [look],
        contextProviders: [new HistoryProvider(store)],
      });
      const response = await agent.run("go", { session: agent.createSession() });
      expect(response.text).toBe("done");
      expect(response.messages).toHaveLength(3);
      expect(faults).toContain("@agentfw/otel could not record an operation");
    },
  );

  it("changes no outcome when what was said cannot be written down", async () => {
    diag.setLogger(logger);
    const watch = new Watch({ captureContent: true });
    const circle: Record<string, unknown> = {};
    circle["self"] = circle;
    const odd: Tool = { ...look, parameters: circle as never, execute: () => circle };
    const response = await agentOf(watch, model([call("1", "look")], "done"), { tools: [odd] }).run("go");
    expect(response.text).toBe("done");
    expect(watch.names()).toEqual(["chat", "execute_tool look", "chat", "invoke_agent"]);
    // The tools of two model calls, and the result of the tool.
    expect(faults).toEqual(Array(3).fill("@agentfw/otel could not record an operation"));
    expect(watch.spans[0]?.attributes).toHaveProperty("gen_ai.output.messages");
  });

  it("lets through what it does not understand", async () => {
    diag.setLogger(logger);
    const [run, chat, tool] = new Watch().telemetry.middleware;
    const pieces = async function* () {
      yield { contents: [] };
    };
    for (const middleware of [run, chat]) {
      const seen: unknown[] = [];
      for await (const update of middleware.handle({} as never, pieces)) {
        seen.push(update);
      }
      expect(seen).toEqual([{ contents: [] }]);
    }
    expect(await tool.handle({} as never, async () => "seen")).toBe("seen");
    expect(faults).toHaveLength(3);
  });

  it("gives the very error, and shows input that the run refuses by its error", async () => {
    const watch = new Watch({ captureContent: true });
    const error = await failureOf(agentOf(watch, model("hi")).run([{ role: "nobody", contents: "go" }] as never));
    expect(error).toMatchObject({ code: "configuration" });
    expect(watch.span("invoke_agent").attributes).toMatchObject({ "error.type": "configuration" });
    expect(watch.span("invoke_agent").attributes).not.toHaveProperty("gen_ai.input.messages");
  });

  it("ends no run because a handler of diagnostics fails", async () => {
    const watch = new Watch();
    const onDiagnostic = watch.telemetry.onDiagnostic(() => {
      throw new Error("no");
    });
    const odd: Tool = {
      ...look,
      execute: () => {
        throw new Error("no");
      },
    };
    const agent = agentOf(watch, model([call("1", "look")], "done"), { tools: [odd], onDiagnostic });
    expect((await agent.run("go")).text).toBe("done");
  });
});

describe("options that do not fit", () => {
  it("are refused by name", () => {
    const wrong: [object, string][] = [
      [{ captureContent: "yes" }, "captureContent"],
      [{ captureErrors: 1 }, "captureErrors"],
      [{ captureIds: null }, "captureIds"],
      [{ captureOwner: "no" }, "captureOwner"],
      [{ providerName: "" }, "providerName"],
      [{ model: 5 }, "model"],
      [{ meterProvider: {} }, "meterProvider"],
      [{ tracerProvider: "x" }, "tracerProvider"],
    ];
    for (const [options, field] of wrong) {
      expect(() => new Telemetry(options as never)).toThrow(
        expect.objectContaining({ code: "configuration", message: expect.stringContaining(field) }),
      );
    }
    expect(() => new Telemetry().onDiagnostic("x" as never)).toThrow(
      expect.objectContaining({ code: "configuration" }),
    );
  });
});
