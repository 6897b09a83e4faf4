import { AgentSession, type ContextProvider, HistoryProvider, InMemoryHistoryStore, type Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { Agent, type agentMiddleware, type Middleware } from "../src/index.ts";
import { failureOf, open } from "./fixture.ts";
import { call, ScriptedClient } from "./scripted-client.ts";

const client = new ScriptedClient([]);
const history = (sourceId: string, load = true) => new HistoryProvider(new InMemoryHistoryStore(), { sourceId, load });

/** What callers in plain JavaScript can pass; the types would not let us. */
function loosely<T>(value: unknown): T {
  return value as T;
}

/** Options of an agent that can never work, and what the error must name. */
const AGENT_OPTIONS: readonly (readonly [name: string, options: unknown, field: string])[] = [
  ["no options", undefined, "options"],
  ["null", null, "options"],
  ["no client", {}, "client"],
  ["a client that is a function", { client: () => "hi" }, "client"],
  ["a client without a contract version", { client: { stream: () => [] } }, "client.contractVersion"],
  [
    "a client that does not say what it stores",
    { client: { contractVersion: 1, stream: () => [] } },
    "storesByDefault",
  ],
  ["a name that is a number", { client, name: 7 }, "name"],
  ["instructions that are a list", { client, instructions: ["a"] }, "instructions"],
  ["tools that are an object", { client, tools: {} }, "tools"],
  ["a tool that is nothing", { client, tools: [undefined] }, "tool"],
  ["a tool without a name", { client, tools: [{ parameters: {} }] }, "tool.name"],
  ["a tool without parameters", { client, tools: [{ name: "look" }] }, "tool look: parameters"],
  ["a tool with an unknown approval", { client, tools: [{ name: "a", parameters: {}, approval: true }] }, "approval"],
  ["providers that are one provider", { client, contextProviders: history("h") }, "contextProviders"],
  ["a provider that is nothing", { client, contextProviders: [null] }, "contextProviders[0]"],
  ["a provider without a source id", { client, contextProviders: [{}] }, "contextProviders[0].sourceId"],
  ["a hook that is no function", { client, contextProviders: [{ sourceId: "a", afterRun: true }] }, "[0].afterRun"],
  [
    "two providers with one source id",
    { client, contextProviders: [history("h"), history("h", false)] },
    "[1].sourceId",
  ],
  ["two providers that load history", { client, contextProviders: [history("g"), history("h")] }, "contextProviders"],
  ["middleware that is a function", { client, middleware: () => [] }, "middleware"],
  ["middleware of no kind", { client, middleware: [{ handle: () => [] }] }, "middleware[0]"],
  ["middleware without a handler", { client, middleware: [{ kind: "chat" }] }, "middleware[0]"],
  ["chat options that are text", { client, chatOptions: "gpt" }, "chatOptions"],
  ["an empty conversation id", { client, chatOptions: { conversationId: "" } }, "chatOptions.conversationId"],
  ["an unknown persistence", { client, historyPersistence: "sometimes" }, "historyPersistence"],
  ["an unknown concurrency", { client, concurrency: "parallel" }, "concurrency"],
  ["a queue timeout of nothing", { client, queueTimeoutMs: 0 }, "queueTimeoutMs"],
  ["a queue timeout that is text", { client, queueTimeoutMs: "30s" }, "queueTimeoutMs"],
  ["no model calls", { client, maxModelCalls: 0 }, "maxModelCalls"],
  ["half a model call", { client, maxModelCalls: 1.5 }, "maxModelCalls"],
  ["errors that are not a number", { client, maxConsecutiveErrors: Number.NaN }, "maxConsecutiveErrors"],
  ["a required owner that is text", { client, requireOwner: "yes" }, "requireOwner"],
  ["a diagnostic handler that is no function", { client, onDiagnostic: console }, "onDiagnostic"],
];

const RUN_OPTIONS: readonly (readonly [name: string, options: unknown, field: string])[] = [
  ["null", null, "options"],
  ["a session in place of the options", "s", "options"],
  ["a session id in place of a session", { session: "s" }, "session"],
  ["null for a session", { session: null }, "session"],
  ["a session's JSON in place of a session", { session: new AgentSession().toJSON() }, "session"],
  ["an empty run id", { runId: "" }, "runId"],
  ["a run id that is a number", { runId: 7 }, "runId"],
  ["an owner without a session", { owner: "ann" }, "owner"],
  ["an owner that is a number", { owner: 7, session: new AgentSession() }, "owner"],
  ["a controller in place of its signal", { signal: new AbortController() }, "signal"],
  ["instructions that are a number", { instructions: 7 }, "instructions"],
  ["tools that are one tool", { tools: { name: "look", parameters: {} } }, "tools"],
  ["middleware of no kind", { middleware: [{}] }, "middleware[0]"],
  ["chat options that are a list", { chatOptions: [] }, "chatOptions"],
  ["a store option that is text", { chatOptions: { store: "no" } }, "chatOptions.store"],
];

const cycle: { self?: unknown } = {};
cycle.self = cycle;
const user = (contents: unknown) => ({ role: "user", contents });

const INPUTS: readonly (readonly [name: string, input: unknown, field: string])[] = [
  ["nothing", undefined, "input[0]"],
  ["null", null, "input[0]"],
  ["a number", 7, "input[0]"],
  ["an empty text", "", "input"],
  ["blank text", [user(" \n"), user([])], "input"],
  ["no message where there is no history", [], "input"],
  ["a list with a hole", ["a", undefined], "input[1]"],
  ["a message without a role", { contents: "a" }, "input[0].role"],
  ["a message with an unknown role", { role: "bot", contents: "a" }, "input[0].role"],
  ["a message without contents", { role: "user" }, "input[0].contents"],
  ["contents that are a number", user(7), "input[0].contents"],
  ["a content that is null", user([null]), "input[0].contents[0]"],
  ["a content of an unknown type", user([{ type: "hologram", data: 1 }]), "input[0].contents[0].type"],
  ["a text content without text", user([{ type: "text" }]), "input[0].contents[0].text"],
  ["a data content with text for bytes", user([{ type: "data", data: "x", mediaType: "a/b" }]), "contents[0].data"],
  ["an empty message id", { ...user("a"), messageId: "" }, "input[0].messageId"],
  [
    "one id for two messages",
    [
      { ...user("a"), messageId: "m" },
      { ...user("b"), messageId: "m" },
    ],
    "input[1].messageId",
  ],
  ["a cycle in a message", { ...user("a"), additionalProperties: cycle }, "input[0].additionalProperties.self"],
  [
    "a cycle in the arguments of a call",
    { role: "assistant", contents: [{ type: "function_call", callId: "c", name: "n", arguments: cycle }] },
    "input[0].contents[0].arguments.self",
  ],
  ["a big integer", { ...user("a"), additionalProperties: { n: 1n } }, "input[0].additionalProperties.n"],
  [
    "not a number",
    user([{ type: "text", text: "a", additionalProperties: { n: Number.NaN } }]),
    "additionalProperties.n",
  ],
  ["an object of a class", new Map(), "input[0]"],
  ["a call in a message of the user", user([call("c", "look")]), "input[0].role"],
  ["a tool message without a result", { role: "tool", contents: "42" }, "input[0].contents"],
];

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("An agent", () => {
  it.each(AGENT_OPTIONS)("is not made with %s", (_, options, field) => {
    expect(thrownBy(() => new Agent(loosely(options)))).toMatchObject({
      code: "configuration",
      message: expect.stringContaining(field),
    });
  });

  it("is not made with a client of a later contract", () => {
    const later = { contractVersion: 2, storesByDefault: false, stream: () => [] };
    expect(thrownBy(() => new Agent(loosely({ client: later })))).toMatchObject({ code: "unsupported" });
  });

  it("names both providers that load history", () => {
    const error = thrownBy(() => new Agent({ client, contextProviders: [history("left"), history("right")] }));
    expect(error).toMatchObject({ message: expect.stringMatching(/"left".*"right"/) });
  });

  it("keeps its own lists: what the caller does with his later changes nothing", async () => {
    const contextProviders: ContextProvider[] = [];
    const tools: Tool[] = [];
    const middleware: Middleware[] = [];
    const model = new ScriptedClient(["hi"]);
    const agent = new Agent({ client: model, contextProviders, tools, middleware });
    const failing = async () => {
      throw new Error("came later");
    };
    contextProviders.push({ sourceId: "late", beforeRun: failing });
    tools.push({ name: "late", parameters: {} });
    middleware.push({ kind: "chat", handle: loosely(failing) });
    expect((await agent.run("x")).text).toBe("hi");
    expect(model.calls[0]?.options.tools).toBeUndefined();
  });

  it("takes options whose optional members are undefined", async () => {
    const { agent, session } = open(["hi"], {
      name: undefined,
      instructions: undefined,
      tools: undefined,
      middleware: undefined,
      chatOptions: undefined,
      maxModelCalls: undefined,
    });
    const options = { session: session(), owner: undefined, runId: undefined, signal: undefined, tools: undefined };
    expect((await agent.run("x", options)).text).toBe("hi");
  });
});

describe("A run", () => {
  it.each(RUN_OPTIONS)("rejects %s before anything happens", async (_, options, field) => {
    const { agent, client: model, store } = open(["hi"]);
    expect(await failureOf(agent.run("x", loosely(options)))).toMatchObject({
      code: "configuration",
      message: expect.stringContaining(field),
    });
    const iterator = agent.runStream("x", loosely(options))[Symbol.asyncIterator]();
    expect(await failureOf(iterator.next())).toMatchObject({ code: "configuration" });
    expect([model.calls.length, store.calls.length]).toEqual([0, 0]);
  });

  it.each(INPUTS)("rejects %s as input before the model is called", async (_, input, field) => {
    const { agent, client: model, session, stored } = open(["hi"]);
    expect(await failureOf(agent.run(loosely(input), { session: session() }))).toMatchObject({
      code: "configuration",
      message: expect.stringContaining(field),
    });
    expect(model.calls).toHaveLength(0);
    expect(await stored()).toEqual([]);
  });

  it("rejects state of the session that could not be saved, before anything happens", async () => {
    for (const [value, field] of [
      [cycle, "session.state.mine.self"],
      [{ list: [1n] }, "session.state.mine.list[0]"],
      [() => 1, "session.state.mine"],
    ] as const) {
      const { agent, client: model, session, store } = open(["hi"]);
      const used = session();
      used.state["mine"] = value;
      expect(await failureOf(agent.run("x", { session: used }))).toMatchObject({
        code: "configuration",
        message: expect.stringContaining(field),
      });
      expect([model.calls.length, store.calls.length]).toEqual([0, 0]);
    }
  });

  it("goes on without new input where there is history", async () => {
    const { agent, session } = open(["hi", "and more"]);
    await agent.run("x", { session: session() });
    expect((await agent.run([], { session: session() })).text).toBe("and more");
  });

  it("leaves an empty message of a transcript out, and says so", async () => {
    const { agent, client: model, session, stored, diagnostics } = open(["hi"]);
    await agent.run([{ role: "assistant", contents: [], messageId: "m" }, "x"], { session: session() });
    expect(model.calls[0]?.messages).toHaveLength(1);
    expect(await stored()).toHaveLength(2);
    expect(diagnostics).toMatchObject([{ type: "empty_message_dropped", messageId: "m" }]);
  });

  it("passes on a content of a later version when it is marked as such", async () => {
    const { agent, session, stored } = open(["hi"]);
    const raw = { type: "hologram", frames: [1, { deep: true }] };
    await agent.run({ role: "user", contents: [{ type: "unknown", raw }] }, { session: session() });
    expect((await stored())[0]?.contents).toEqual([{ type: "unknown", raw }]);
  });

  it("keeps bytes of a view, whatever the caller does with the buffer", async () => {
    const buffer = new Uint8Array([9, 9, 9, 0, 255, 254, 128, 9]);
    const data = new Uint8Array(buffer.buffer, 3, 4);
    const { agent, session, stored } = open(["hi"]);
    const run = agent.run(
      { role: "user", contents: [{ type: "data", data, mediaType: "image/png", name: "a.png" }] },
      { session: session() },
    );
    buffer.fill(7);
    await run;
    expect((await stored())[0]?.contents).toEqual([
      { type: "data", data: new Uint8Array([0, 255, 254, 128]), mediaType: "image/png", name: "a.png" },
    ]);
  });
});

describe("Middleware", () => {
  it("that gives something that cannot be read ends the run with an error that says so", async () => {
    for (const kind of ["agent", "chat"] as const) {
      const middleware = loosely<ReturnType<typeof agentMiddleware>>({ kind, handle: async () => "no iterable" });
      const { agent } = open(["hi"], { middleware: [middleware] });
      expect(await failureOf(agent.run("x"))).toMatchObject({
        code: "configuration",
        message: expect.stringMatching(new RegExp(`${kind} middleware`)),
      });
    }
  });
});
