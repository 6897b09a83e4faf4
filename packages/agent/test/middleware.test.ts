import type { ChatUpdate, ContextProvider } from "@agentfw/core";
import { describe, expect, it, vi } from "vitest";
import { AgentUpdate, agentMiddleware, chatMiddleware, functionMiddleware, type Middleware } from "../src/index.ts";
import { failureOf, open } from "./fixture.ts";
import { call, shape } from "./scripted-client.ts";

const look = { name: "look", parameters: { type: "object" }, execute: (args: unknown) => ({ saw: args }) };

/** Middleware of each kind that writes down when it is passed. */
function logging(kind: "agent" | "chat" | "function", name: string, log: string[]): Middleware {
  switch (kind) {
    case "agent":
      return agentMiddleware(async function* (_, next) {
        log.push(`${name}.before`);
        yield* next();
        log.push(`${name}.after`);
      });
    case "chat":
      return chatMiddleware(async function* (_, next) {
        log.push(`${name}.before`);
        yield* next();
        log.push(`${name}.after`);
      });
    default:
      return functionMiddleware(async (_, next) => {
        log.push(`${name}.before`);
        const result = await next();
        log.push(`${name}.after`);
        return result;
      });
  }
}

const text = (value: string): ChatUpdate => ({ contents: [{ type: "text", text: value }] });

describe.each(["agent", "chat", "function"] as const)("Middleware of kind %s", (kind) => {
  it("runs the first one outermost, the agent's outside of the run's", async () => {
    const log: string[] = [];
    const core =
      kind === "function" ? [{ ...look, execute: () => log.push("core") }] : [{ ...look, execute: () => "unused" }];
    const { agent, client } = open(kind === "function" ? [[call("1", "look")], "done"] : ["done"], {
      tools: core,
      middleware: [logging(kind, "agent 1", log), logging(kind, "agent 2", log)],
    });
    if (kind !== "function") {
      const stream = client.stream.bind(client);
      client.stream = (...given) => {
        log.push("core");
        return stream(...given);
      };
    }
    await agent.run("go", { middleware: [logging(kind, "run", log)] });
    expect(log).toEqual([
      "agent 1.before",
      "agent 2.before",
      "run.before",
      "core",
      "run.after",
      "agent 2.after",
      "agent 1.after",
    ]);
  });
});

describe("Agent middleware", () => {
  it("replaces a run: nothing is loaded, called or stored", async () => {
    const canned = agentMiddleware(async function* ({ runId }) {
      yield new AgentUpdate({
        messageId: `${runId}:o0`,
        role: "assistant",
        contents: [{ type: "text", text: "canned" }],
      });
    });
    const { agent, client, store, session } = open(["model"], { middleware: [canned] });
    const response = await agent.run("go", { session: session() });
    expect(response.text).toBe("canned");
    expect([client.calls.length, store.calls.length]).toEqual([0, 0]);
  });

  it("changes the input, and what it lets through is what the caller reads", async () => {
    const shout = agentMiddleware(async function* (invocation, next) {
      invocation.input = `${String(invocation.input)}!`;
      for await (const update of next()) {
        const contents = update.contents.map((content) =>
          content.type === "text" ? { ...content, text: content.text.toUpperCase() } : content,
        );
        yield new AgentUpdate({ ...update, contents });
      }
    });
    const { agent, client, session } = open(["quiet"], { middleware: [shout] });
    const response = await agent.run("go", { session: session() });
    expect(shape(client.calls[0]?.messages ?? [])).toEqual(["user: go!"]);
    expect(response.text).toBe("QUIET");
  });

  it("may run the run again after it failed, and one turn is stored", async () => {
    const retry = agentMiddleware(async function* (_, next) {
      try {
        yield* next();
      } catch {
        yield* next();
      }
    });
    const { agent, session, stored } = open([{ pieces: [], throws: new Error("overloaded") }, "fine"], {
      middleware: [retry],
    });
    expect((await agent.run("go", { session: session() })).text).toBe("fine");
    expect(shape(await stored())).toEqual(["user: go", "assistant: fine"]);
  });

  it("sees the end when the reader leaves, and so does the run inside", async () => {
    const log: string[] = [];
    const watching = agentMiddleware(async function* (_, next) {
      try {
        yield* next();
      } finally {
        log.push("middleware");
      }
    });
    const provider: ContextProvider = {
      sourceId: "p",
      afterRun: async ({ error }) => {
        log.push(`provider ${String((error as Error).name)}`);
      },
    };
    const { agent, session, stored } = open([{ pieces: ["a", "b"] }], {
      middleware: [watching],
      contextProviders: [provider],
    });
    for await (const _ of agent.runStream("go", { session: session() })) {
      break;
    }
    expect(log).toEqual(["provider AbortError", "middleware"]);
    expect(await stored()).toEqual([]);
  });

  it("that stops reading early gives the run inside up", async () => {
    const first = agentMiddleware(async function* (_, next) {
      for await (const update of next()) {
        yield update;
        return;
      }
    });
    const { agent, session, stored } = open([{ pieces: ["a", "b"] }, "next"], { middleware: [first] });
    expect((await agent.run("go", { session: session() })).text).toBe("a");
    expect(await stored()).toEqual([]);
  });

  it("is told whose run it is", async () => {
    const seen: unknown[] = [];
    const watching = agentMiddleware((invocation, next) => {
      seen.push(invocation.agent);
      return next();
    });
    const { agent } = open(["hi", "hi"], { name: "cook", description: "Cooks.", middleware: [watching] });
    await agent.run("go");
    const nameless = open(["hi"], { middleware: [watching] });
    await nameless.agent.run("go");
    expect(seen).toEqual([
      { name: "cook", description: "Cooks." },
      { name: undefined, description: undefined },
    ]);
  });

  it("passes its error to the caller unchanged", async () => {
    const cause = new RangeError("refused");
    const refusing = agentMiddleware(() => {
      throw cause;
    });
    const { agent } = open(["hi"], { middleware: [refusing] });
    expect(await failureOf(agent.run("go"))).toBe(cause);
  });
});

describe("Agent middleware of a run that has to wait", () => {
  /** Writes down when a run waits, and when it no longer does. */
  function waits(log: string[]): Middleware {
    return agentMiddleware((invocation, next) => {
      const { runId } = invocation;
      invocation.onWait = () => {
        log.push(`${runId} waits`);
        return () => log.push(`${runId} waits no longer`);
      };
      return next();
    });
  }

  it("hears of the wait and of its end, and of nothing when there is no wait", async () => {
    const log: string[] = [];
    const { agent, session } = open(["one", "two"], { middleware: [waits(log)] });
    const first = agent.runStream("go", { session: session(), runId: "first" })[Symbol.asyncIterator]();
    await first.next();
    const second = agent.run("go", { session: session(), runId: "second" });
    await vi.waitFor(() => expect(log).toEqual(["second waits"]));
    await first.next();
    await second;
    expect(log).toEqual(["second waits", "second waits no longer"]);
  });

  it("hears of the end of a wait that failed", async () => {
    const log: string[] = [];
    const { agent, session } = open(["one", "two"], { middleware: [waits(log)] });
    const first = agent.runStream("go", { session: session() })[Symbol.asyncIterator]();
    await first.next();
    const controller = new AbortController();
    const second = agent.run("go", { session: session(), runId: "second", signal: controller.signal });
    await vi.waitFor(() => expect(log).toEqual(["second waits"]));
    controller.abort();
    await failureOf(second);
    expect(log).toEqual(["second waits", "second waits no longer"]);
    await first.return(undefined);
  });
});

describe("Chat middleware", () => {
  it("replaces a model call, and the replacement is stored", async () => {
    const cached = chatMiddleware(async function* () {
      yield text("from the cache");
    });
    const { agent, client, session, stored } = open(["model"], { middleware: [cached] });
    await agent.run("go", { session: session() });
    expect(client.calls).toHaveLength(0);
    expect(shape(await stored())).toEqual(["user: go", "assistant: from the cache"]);
  });

  it("wraps each call of the loop, and changes what the model gets without changing what is stored", async () => {
    let calls = 0;
    const redacting = chatMiddleware(async function* (invocation, next) {
      calls += 1;
      invocation.messages = invocation.messages.map((message) =>
        message.role === "user" ? { ...message, contents: [{ type: "text", text: "***" }] } : message,
      );
      invocation.options = { ...invocation.options, temperature: 0 };
      yield* next();
    });
    const { agent, client, session, stored } = open([[call("1", "look")], "done"], {
      tools: [look],
      middleware: [redacting],
    });
    await agent.run("secret", { session: session() });
    expect(calls).toBe(2);
    expect(client.calls.map(({ messages }) => shape(messages)[0])).toEqual(["user: ***", "user: ***"]);
    expect(client.calls.map(({ options }) => options.temperature)).toEqual([0, 0]);
    expect(shape(await stored())[0]).toBe("user: secret");
  });

  it("may ask the model again", async () => {
    const retry = chatMiddleware(async function* (_, next) {
      try {
        yield* next();
      } catch {
        yield* next();
      }
    });
    const { agent } = open([{ pieces: [], throws: new Error("overloaded") }, "fine"], { middleware: [retry] });
    expect((await agent.run("go")).text).toBe("fine");
  });

  it("comes from a provider inside of the agent's own and the run's", async () => {
    const log: string[] = [];
    const provider: ContextProvider = {
      sourceId: "p",
      beforeRun: async (context) => context.addMiddleware([logging("chat", "provider", log) as never]),
    };
    const { agent } = open(["hi"], {
      contextProviders: [provider],
      middleware: [logging("chat", "agent", log)],
    });
    await agent.run("go", { middleware: [logging("chat", "run", log)] });
    expect(log.slice(0, 3)).toEqual(["agent.before", "run.before", "provider.before"]);
  });

  it("has no session in a run without one", async () => {
    const sessions: unknown[] = [];
    const watching = chatMiddleware((invocation, next) => {
      sessions.push(invocation.session?.sessionId);
      return next();
    });
    const { agent, session } = open(["a", "b"], { middleware: [watching] });
    await agent.run("go");
    await agent.run("go", { session: session() });
    expect(sessions).toEqual([undefined, "s"]);
  });
});

describe("Function middleware", () => {
  it("replaces a tool: it does not run, and the replacement is its result", async () => {
    const cached = functionMiddleware(async () => ({ cached: true }));
    let ran = 0;
    const tool = { ...look, execute: () => (ran += 1) };
    const { agent } = open([[call("1", "look")], "done"], { tools: [tool], middleware: [cached] });
    const response = await agent.run("go");
    expect(ran).toBe(0);
    expect(shape(response.messages)[1]).toBe('tool: result 1 {"cached":true}');
  });

  it("changes arguments before they are checked, also those that were no JSON", async () => {
    const mending = functionMiddleware((invocation, next) => {
      invocation.args = { mended: true };
      return next();
    });
    const broken = { type: "function_call" as const, callId: "1", name: "look", arguments: "{oops" };
    const { agent } = open([[broken], "done"], { tools: [look], middleware: [mending] });
    expect(shape((await agent.run("go")).messages)[1]).toBe('tool: result 1 {"saw":{"mended":true}}');
  });

  it("that fails makes an error result like a tool that fails", async () => {
    const failing = functionMiddleware(() => {
      throw new Error("not allowed");
    });
    const { agent, diagnostics } = open([[call("1", "look")], "done"], { tools: [look], middleware: [failing] });
    expect(shape((await agent.run("go")).messages)[1]).toBe('tool: result 1 "Error: look failed."');
    expect(diagnostics).toMatchObject([{ type: "tool_failed", cause: { message: "not allowed" } }]);
  });

  it("ends the loop after the whole batch, whose results are all kept", async () => {
    const ending = functionMiddleware((invocation, next) => {
      if (invocation.call.callId === "1") {
        invocation.terminate();
      }
      return next();
    });
    const { agent, client, session } = open([[call("1", "look"), call("2", "look")], "next"], {
      tools: [look],
      middleware: [ending],
    });
    const response = await agent.run("go", { session: session() });
    expect(response.messages).toHaveLength(3);
    expect(client.calls).toHaveLength(1);
    expect((await agent.run("on", { session: session() })).text).toBe("next");
  });
});
