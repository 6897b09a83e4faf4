import { type ChatClient, type ContextProvider, HistoryProvider, InMemoryHistoryProvider } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { Agent } from "../src/index.ts";
import { open, TestStore } from "./fixture.ts";
import { ScriptedClient, shape } from "./scripted-client.ts";

describe("Options of a run", () => {
  it("win over the agent's; what is undefined leaves the agent's as it is", async () => {
    const { agent, client } = open(["a", "b"], { chatOptions: { model: "m", temperature: 1, seed: 7 } });
    await agent.run("x", { chatOptions: { model: undefined, temperature: 0 } });
    await agent.run("y");
    expect(client.calls[0]?.options).toMatchObject({ model: "m", temperature: 0, seed: 7 });
    expect(client.calls[1]?.options).toMatchObject({ model: "m", temperature: 1, seed: 7 });
  });

  it("add their instructions behind the agent's, a line for each, and providers come last", async () => {
    const provider: ContextProvider = {
      sourceId: "p",
      beforeRun: async (context) => context.addInstructions(["provider 1", "provider 2"]),
    };
    const { agent, client } = open(["a", "b"], {
      instructions: "agent",
      chatOptions: { instructions: "agent's options" },
      contextProviders: [provider],
    });
    await agent.run("x", { instructions: "run", chatOptions: { instructions: "run's options" } });
    await agent.run("y");
    expect(client.calls.map(({ options }) => options.instructions?.split("\n"))).toEqual([
      ["agent", "agent's options", "run", "run's options", "provider 1", "provider 2"],
      ["agent", "agent's options", "provider 1", "provider 2"],
    ]);
  });

  it("send no instructions where there are none", async () => {
    const { agent, client } = open(["a"], { instructions: "" });
    await agent.run("x");
    expect(client.calls[0]?.options).not.toHaveProperty("instructions");
    expect(client.calls[0]?.options).not.toHaveProperty("tools");
  });

  it("join metadata and additional properties with the agent's, name by name", async () => {
    const { agent, client } = open(["a"], {
      chatOptions: { metadata: { a: "1", b: "1" }, additionalProperties: { a: 1, b: 1 } },
    });
    await agent.run("x", { chatOptions: { metadata: { b: "2", c: "2" }, additionalProperties: { b: 2, c: 2 } } });
    expect(client.calls[0]?.options).toMatchObject({
      metadata: { a: "1", b: "2", c: "2" },
      additionalProperties: { a: 1, b: 2, c: 2 },
    });
  });

  it("change neither the agent's objects nor the caller's", async () => {
    const chatOptions = Object.freeze({ metadata: Object.freeze({ a: "1" }) });
    const { agent } = open(["a"], { chatOptions, tools: Object.freeze([]) as never });
    await agent.run("x", Object.freeze({ chatOptions: Object.freeze({ metadata: Object.freeze({ b: "2" }) }) }));
    expect(chatOptions).toEqual({ metadata: { a: "1" } });
  });

  it("add tools to the agent's for one run", async () => {
    const tool = (name: string) => ({ name, parameters: { type: "object" }, execute: () => 1 });
    const { agent, client } = open(["a", "b"], { tools: [tool("always")] });
    await agent.run("x", { tools: [tool("once")] });
    await agent.run("y");
    expect(client.calls.map(({ options }) => options.tools?.map(({ name }) => name))).toEqual([
      ["always", "once"],
      ["always"],
    ]);
  });

  it("tell the model no id of the session", async () => {
    const { agent, client } = open(["a"]);
    await agent.run("x", { session: agent.createSession({ sessionId: "very-secret-id", owner: "ann" }) });
    const { signal: _, ...options } = client.calls[0]?.options ?? {};
    expect(JSON.stringify([client.calls[0]?.messages.map(({ contents }) => contents), options])).not.toMatch(
      /very-secret-id|ann/,
    );
  });
});

describe("An agent", () => {
  it("works with a client that cannot stream", async () => {
    const client: ChatClient = {
      contractVersion: 1,
      storesByDefault: false,
      complete: async (messages) => ({
        contents: [{ type: "text", text: `seen ${messages.length}` }],
        finishReason: "stop",
      }),
    } as Partial<ChatClient> as ChatClient;
    const agent = new Agent({ client });
    const pieces: string[] = [];
    for await (const { text } of agent.runStream("x")) {
      pieces.push(text);
    }
    expect(pieces).toEqual(["seen 1"]);
  });

  it("gives its providers by source id and by class", () => {
    const history = new HistoryProvider(new TestStore(), { sourceId: "h" });
    const agent = new Agent({ client: new ScriptedClient([]), contextProviders: [history] });
    expect(agent.getProvider("h")).toBe(history);
    expect(agent.getProvider(HistoryProvider)).toBe(history);
    expect(agent.getProvider("other")).toBeUndefined();
    expect(agent.getProvider(InMemoryHistoryProvider)?.sourceId).toBe("in_memory");
    for (const wrong of [undefined, null, 7, {}]) {
      expect(() => agent.getProvider(wrong as never)).toThrow(expect.objectContaining({ code: "configuration" }));
    }
  });

  it("makes sessions with ids of their own, and names those that exist without any call", () => {
    const { agent, client, store } = open([]);
    const [one, two] = [agent.createSession(), agent.createSession({ owner: "ann" })];
    expect(one.sessionId).not.toBe(two.sessionId);
    expect([one.owner, two.owner]).toEqual([null, "ann"]);
    const named = agent.getSession({ serviceSessionId: "conv", owner: "ann" });
    expect(named.serviceSessionId).toBe("conv");
    expect(named.sessionId).not.toBe("");
    expect([client.calls.length, store.calls.length]).toEqual([0, 0]);
  });

  it("serves any number of users at once and keeps them apart", async () => {
    const { agent, client } = open(Array.from({ length: 40 }, (_, index) => `answer ${index}`));
    const owners = Array.from({ length: 20 }, (_, index) => `user ${index}`);
    const turn = (text: string) =>
      Promise.all(owners.map((owner) => agent.run(text, { session: agent.createSession({ sessionId: "s", owner }) })));
    await turn("first");
    await turn("second");
    expect(client.calls.map(({ messages }) => messages.length)).toEqual([...Array(20).fill(1), ...Array(20).fill(3)]);
    expect(shape(client.calls[20]?.messages ?? []).at(-1)).toBe("user: second");
  });
});
