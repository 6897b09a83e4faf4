import { HistoryProvider, InMemoryHistoryProvider, InMemoryHistoryStore } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { Agent, tool } from "../src/index.ts";
import { call, ScriptedClient, shape } from "./scripted-client.ts";

describe("Agent", () => {
  it("sends the conversation so far exactly once", async () => {
    const client = new ScriptedClient(["Noted.", "Italian food."]);
    const agent = new Agent({ client, contextProviders: [new HistoryProvider(new InMemoryHistoryStore())] });
    const session = agent.createSession({ owner: "ann" });
    await agent.run("Remember that I like Italian food.", { session });
    const response = await agent.run("What do I like?", { session });
    expect(response.text).toBe("Italian food.");
    expect(shape(client.calls[1]?.messages ?? [])).toEqual([
      "user: Remember that I like Italian food.",
      "assistant: Noted.",
      "user: What do I like?",
    ]);
  });

  it("keeps history in the session when no provider does, without changing the agent", async () => {
    const client = new ScriptedClient(["one", "two"]);
    const agent = new Agent({ client });
    const session = agent.createSession();
    await agent.run("a", { session });
    await agent.run("b", { session });
    expect(client.calls[1]?.messages).toHaveLength(3);
    const messages = await agent.getProvider(InMemoryHistoryProvider)?.getMessages(session);
    expect(shape(messages ?? [])).toEqual(["user: a", "assistant: one", "user: b", "assistant: two"]);
  });

  it("runs tools side by side and hands their results to the model", async () => {
    const client = new ScriptedClient([
      [call("1", "add", { a: 1, b: 2 }), call("2", "add", { a: 3, b: 4 })],
      "3 and 7",
    ]);
    const add = tool({
      name: "add",
      parameters: z.object({ a: z.number(), b: z.number() }),
      execute: ({ a, b }) => a + b,
    });
    const agent = new Agent({ client, tools: [add] });
    const response = await agent.run("1+2, 3+4?");
    expect(shape(response.messages)).toEqual([
      'assistant: call 1 add {"a":1,"b":2} | call 2 add {"a":3,"b":4}',
      "tool: result 1 3",
      "tool: result 2 7",
      "assistant: 3 and 7",
    ]);
  });

  it("asks for approval, runs nothing before, and goes on after a restart", async () => {
    const store = new InMemoryHistoryStore();
    const ran: string[] = [];
    const tools = [
      tool({ name: "pay", approval: "required", execute: () => ran.push("pay") }),
      tool({ name: "look", execute: () => ran.push("look") }),
    ];
    const open = (script: ConstructorParameters<typeof ScriptedClient>[0]) => {
      const client = new ScriptedClient(script);
      return {
        client,
        agent: new Agent({ client, tools, contextProviders: [new HistoryProvider(store, { maxMessages: 2 })] }),
      };
    };
    const first = open([[call("1", "pay"), call("2", "look")], "hi", "still here", "more"]);
    const session = first.agent.createSession({ owner: "ann", sessionId: "s" });
    const asked = await first.agent.run("pay", { session });
    const request = asked.approvalRequests[0];
    expect(asked.approvalRequests).toHaveLength(1);
    for (const text of ["x", "y", "z"]) {
      await first.agent.run(text, { session });
    }
    expect(ran).toEqual([]);
    const second = open(["paid", "twice?"]);
    const again = second.agent.createSession({ owner: "ann", sessionId: "s" });
    const answer = {
      role: "user" as const,
      contents: [{ type: "function_approval_response" as const, id: request?.id ?? "", approved: true }],
    };
    const done = await second.agent.run(answer, { session: again });
    expect(ran.toSorted()).toEqual(["look", "pay"]);
    expect(shape(done.messages)).toEqual(["tool: result 1 1", "tool: result 2 2", "assistant: paid"]);
    expect(shape(second.client.calls[0]?.messages ?? [])[0]).toContain("call 1 pay");
    await second.agent.run(answer, { session: again });
    expect(ran).toHaveLength(2);
  });
});
