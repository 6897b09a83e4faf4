import { AgentSession, HistoryProvider, InMemoryHistoryStore, type Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { Agent } from "../src/index.ts";
import { failureOf, gate, open, settled, TestStore } from "./fixture.ts";
import { type Answer, call, ScriptedClient, shape } from "./scripted-client.ts";

/** A model that answers with what it was asked and how much of a conversation it saw. */
const echo: Answer = async function* (messages) {
  const last = messages.at(-1)?.contents[0];
  const text = last?.type === "text" ? last.text : "";
  yield { contents: [{ type: "text", text: `${text} (${messages.length})` }] };
};

function helper(count: number, options: { store?: TestStore } = {}): { agent: Agent; client: ScriptedClient } {
  const client = new ScriptedClient(Array.from({ length: count }, () => echo));
  const contextProviders = options.store === undefined ? [] : [new HistoryProvider(options.store)];
  return { client, agent: new Agent({ client, name: "The helper!", description: "Helps.", contextProviders }) };
}

describe("An agent as a tool", () => {
  it("has a name that services take, its description, and one argument", () => {
    const tool = helper(0).agent.asTool();
    expect(tool).toMatchObject({
      name: "The_helper_",
      description: "Helps.",
      parameters: { properties: { task: { type: "string" } }, required: ["task"] },
    });
    const named = helper(0).agent.asTool({ name: "ask", description: "Asks.", argumentName: "question" });
    expect(named).toMatchObject({
      name: "ask",
      description: "Asks.",
      parameters: { properties: { question: {} }, required: ["question"] },
    });
  });

  it.each([
    ["no name at all", {}],
    ["an empty argument name", { name: "a", argumentName: "" }],
    ["a name that services refuse", { name: "two words" }],
    ["null", null],
  ])("is refused with %s", (_, options) => {
    const nameless = new Agent({ client: new ScriptedClient([]) });
    expect(() => nameless.asTool(options as never)).toThrow(expect.objectContaining({ code: "configuration" }));
  });

  it("answers with its text, and each call stands by itself", async () => {
    const child = helper(2);
    const parent = open([[call("1", "ask", { task: "a" }), call("2", "ask", { task: "b" })], "done"], {
      tools: [child.agent.asTool({ name: "ask" })],
    });
    const response = await parent.agent.run("go", { session: parent.session() });
    expect(shape(response.messages).slice(1, 3)).toEqual(['tool: result 1 "a (1)"', 'tool: result 2 "b (1)"']);
  });

  it("tells the parent's model that it failed, and reports why", async () => {
    const child = new Agent({ client: new ScriptedClient([{ pieces: [], throws: new Error("no quota") }]), name: "c" });
    const parent = open([[call("1", "c", { task: "a" })], "sorry"], { tools: [child.asTool()] });
    const response = await parent.agent.run("go");
    expect(shape(response.messages)[1]).toBe('tool: result 1 "Error: c failed."');
    expect(parent.diagnostics).toMatchObject([{ type: "tool_failed", cause: { message: "no quota" } }]);
  });

  it("tells the parent's model when it needs a person, in place of an empty answer", async () => {
    const pay: Tool = { name: "pay", parameters: { type: "object" }, approval: "required", execute: () => 1 };
    const ask: Tool = { name: "ask_user", parameters: { type: "object" } };
    for (const tool of [pay, ask]) {
      const child = new Agent({ client: new ScriptedClient([[call("x", tool.name)]]), name: "c", tools: [tool] });
      const parent = open([[call("1", "c", { task: "a" })], "sorry"], { tools: [child.asTool()] });
      const response = await parent.agent.run("go");
      expect(shape(response.messages)[1]).toMatch(/result 1 "Error: c /);
      expect(parent.diagnostics).toMatchObject([{ type: "tool_failed", cause: { code: "unsupported" } }]);
    }
  });

  it("stops with the run that called it", async () => {
    const inside = gate();
    let heard = false;
    const slow: Answer = async function* (_, { signal }) {
      inside.open();
      signal?.addEventListener("abort", () => {
        heard = true;
      });
      yield await new Promise<never>(() => undefined);
    };
    const child = new Agent({ client: new ScriptedClient([slow]), name: "c" });
    const parent = open([[call("1", "c", { task: "a" })]], { tools: [child.asTool()] });
    const controller = new AbortController();
    const run = failureOf(parent.agent.run("go", { signal: controller.signal }));
    await inside.passed;
    controller.abort();
    expect(await run).toMatchObject({ name: "AbortError" });
    await settled();
    expect(heard).toBe(true);
  });

  it("needs approval when it says so", async () => {
    const child = helper(1);
    const parent = open([[call("1", "ask", { task: "a" })]], {
      tools: [child.agent.asTool({ name: "ask", approval: "required" })],
    });
    expect((await parent.agent.run("go", { session: parent.session() })).approvalRequests).toHaveLength(1);
    expect(child.client.calls).toHaveLength(0);
  });
});

describe("An agent as a tool with a conversation of its own", () => {
  it("remembers earlier calls, and its history never mixes with the caller's", async () => {
    const child = helper(2);
    const client = new ScriptedClient([
      [call("1", "ask", { task: "a" })],
      "one",
      [call("2", "ask", { task: "b" })],
      "two",
    ]);
    const parent = new Agent({ client, tools: [child.agent.asTool({ name: "ask", propagateSession: true })] });
    const session = parent.createSession({ owner: "ann" });
    await parent.run("go", { session });
    await parent.run("go on", { session });
    expect(child.client.calls.map(({ messages }) => shape(messages))).toEqual([
      ["user: a"],
      ["user: a", "assistant: a (1)", "user: b"],
    ]);
    expect(shape(client.calls[3]?.messages ?? [])).toEqual([
      "user: go",
      'assistant: call 1 ask {"task":"a"}',
      'tool: result 1 "a (1)"',
      "assistant: one",
      "user: go on",
      'assistant: call 2 ask {"task":"b"}',
      'tool: result 2 "b (3)"',
    ]);
  });

  it("travels with the caller's session through JSON", async () => {
    const child = helper(2);
    const client = new ScriptedClient([
      [call("1", "ask", { task: "a" })],
      "one",
      [call("2", "ask", { task: "b" })],
      "two",
    ]);
    const parent = new Agent({ client, tools: [child.agent.asTool({ name: "ask", propagateSession: true })] });
    const session = parent.createSession({ owner: "ann" });
    await parent.run("go", { session });
    const restored = AgentSession.fromJSON(JSON.stringify(session), { owner: "ann" });
    await parent.run("go on", { session: restored });
    expect(child.client.calls[1]?.messages).toHaveLength(3);
    expect(JSON.stringify(restored)).not.toContain("ann");
  });

  it("loses no turn of calls that run side by side", async () => {
    const child = helper(5);
    const tasks = ["a", "b", "c", "d"];
    const parent = open(
      [tasks.map((task) => call(task, "ask", { task })), "one", [call("e", "ask", { task: "e" })], "two"],
      { tools: [child.agent.asTool({ name: "ask", propagateSession: true })] },
    );
    const session = parent.session();
    await parent.agent.run("go", { session });
    await parent.agent.run("go on", { session });
    const seen = child.client.calls[4]?.messages ?? [];
    expect(seen).toHaveLength(9);
    for (const task of tasks) {
      expect(shape(seen)).toContain(`user: ${task}`);
    }
  });

  it("keeps to the caller's owner in a store that both share", async () => {
    const store = new TestStore();
    const child = helper(2, { store });
    const tools = [child.agent.asTool({ name: "ask", propagateSession: true })];
    for (const owner of ["ann", "bob"]) {
      const client = new ScriptedClient([[call("1", "ask", { task: "a" })], "done"]);
      const parent = new Agent({ client, tools, contextProviders: [new HistoryProvider(store)], requireOwner: true });
      await parent.run("go", { session: parent.createSession({ sessionId: "s", owner }) });
    }
    expect(child.client.calls.map(({ messages }) => messages.length)).toEqual([1, 1]);
    const keys = store.calls.filter(({ name }) => name === "append").map(({ key }) => [key.owner, key.session]);
    expect(keys).toEqual([
      ["ann", "s/ask"],
      ["ann", "s"],
      ["bob", "s/ask"],
      ["bob", "s"],
    ]);
  });

  it("stores its turn once when the caller's run is tried again under its name", async () => {
    const store = new TestStore();
    const child = helper(1, { store });
    const tools = [child.agent.asTool({ name: "ask", propagateSession: true })];
    const script: Answer[] = [[call("1", "ask", { task: "a" })], { pieces: [], throws: new Error("down") }];
    const parent = open([...script, ...script.slice(0, 1), "done"], { tools, store });
    await failureOf(parent.agent.run("go", { session: parent.session(), runId: "r" }));
    await parent.agent.run("go", { session: parent.session(), runId: "r" });
    expect(child.client.calls).toHaveLength(1);
    const page = await store.data.read({ owner: "ann", source: "history", session: "s/ask" });
    expect(page.records).toHaveLength(2);
  });
});

describe("A run inside of a run", () => {
  it("on the same conversation is a conflict at once, and no deadlock", async () => {
    const errors: unknown[] = [];
    const store = new InMemoryHistoryStore();
    const inner = new Agent({
      client: new ScriptedClient(["never"]),
      contextProviders: [new HistoryProvider(store)],
    });
    const nested: Tool = {
      name: "nested",
      parameters: { type: "object" },
      execute: async (_, { session }) => {
        const restored = AgentSession.fromJSON(JSON.stringify(session), { owner: "ann" });
        errors.push(await failureOf(inner.run("inside", { session: restored })));
      },
    };
    const outer = new Agent({
      client: new ScriptedClient([[call("1", "nested")], "done"]),
      tools: [nested],
      contextProviders: [new HistoryProvider(store)],
    });
    const response = await outer.run("go", { session: outer.createSession({ owner: "ann" }) });
    expect(response.text).toBe("done");
    expect(errors).toMatchObject([{ code: "conflict" }]);
  });

  it("on the same conversation from a provider or from middleware is a conflict too", async () => {
    const errors: unknown[] = [];
    const inner = (session: AgentSession) => failureOf(agent.run("inside", { session }));
    const { agent, session } = open(["done"], {
      contextProviders: [
        {
          sourceId: "p",
          beforeRun: async (context) => {
            errors.push(await inner(context.session));
          },
          afterRun: async (context) => {
            errors.push(await inner(context.session));
          },
        },
      ],
      middleware: [
        {
          kind: "chat",
          handle: async function* (invocation, next) {
            errors.push(invocation.session === undefined ? "no session" : await inner(invocation.session));
            yield* next();
          },
        },
      ],
    });
    await agent.run("go", { session: session() });
    expect(errors).toHaveLength(3);
    expect(errors).toMatchObject(Array(3).fill({ code: "conflict" }));
  });

  it("that outlives the run around it may have the conversation afterwards", async () => {
    const isOver = gate();
    let late: Promise<string> | undefined;
    const background: Tool = {
      name: "background",
      parameters: { type: "object" },
      execute: () => {
        late = isOver.passed.then(async () => (await agent.run("reminder", { session: session() })).text);
      },
    };
    const { agent, session } = open([[call("1", "background")], "done", "reminded"], { tools: [background] });
    await agent.run("go", { session: session() });
    isOver.open();
    expect(await late).toBe("reminded");
  });
});
