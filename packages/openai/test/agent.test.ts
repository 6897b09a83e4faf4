import { Agent, tool } from "@agentfw/agent";
import type { Answer } from "@agentfw/test-servers/openai";
import { describe, expect, it } from "vitest";
import { connect } from "./helpers.ts";

const WEATHER = tool({
  name: "weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => ({ city, degrees: 21 }),
});

const ASKS: Answer = {
  text: "Let me look.",
  reasoning: "Two cities.",
  toolCalls: [
    { id: "call_0", name: "weather", arguments: '{"city":"Zürich"}' },
    { id: "call_1", name: "weather", arguments: '{"city":"Bern"}' },
  ],
};

describe.each([true, false])("an agent on this client, streaming: %s", (streaming) => {
  it("calls tools and goes on with the conversation, in requests that the service takes", async () => {
    const { client, server } = await connect({ streaming });
    const agent = new Agent({ client, tools: [WEATHER], instructions: "Be brief." });
    const session = agent.createSession();
    server.reply({ answer: ASKS }, { answer: { text: "21 in both." } }, { answer: { text: "You are welcome." } });
    const first = await agent.run("How warm is it in Zürich and Bern?", { session });
    expect(first.text).toContain("21 in both.");
    expect(first.usage).toEqual({ inputTokenCount: 24, outputTokenCount: 14, totalTokenCount: 38 });
    expect((await agent.run("Thanks", { session })).text).toBe("You are welcome.");
    expect(server.requests).toHaveLength(3);
    expect(server.requests[2]?.body["messages"]).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: "How warm is it in Zürich and Bern?" },
      {
        role: "assistant",
        content: "Let me look.",
        tool_calls: [
          { id: "call_0", type: "function", function: { name: "weather", arguments: '{"city":"Zürich"}' } },
          { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Bern"}' } },
        ],
      },
      { role: "tool", tool_call_id: "call_0", content: '{"city":"Zürich","degrees":21}' },
      { role: "tool", tool_call_id: "call_1", content: '{"city":"Bern","degrees":21}' },
      { role: "assistant", content: "21 in both." },
      { role: "user", content: "Thanks" },
    ]);
  });

  it("keeps a refusal as one marked text, and tells calls apart that share an id", async () => {
    const { client, server } = await connect({ streaming });
    const agent = new Agent({ client, tools: [WEATHER] });
    const session = agent.createSession();
    const toolCalls = ASKS.toolCalls?.map((call) => ({ ...call, id: "call_0" }));
    server.reply({ answer: { toolCalls } }, { answer: { refusal: "I would rather not say." } });
    const { messages } = await agent.run("How warm is it?", { session });
    const refused = messages.at(-1);
    expect(refused?.contents).toEqual([{ type: "text", text: "I would rather not say." }]);
    expect(refused?.additionalProperties).toMatchObject({ refusal: true });
    await agent.run("Why?", { session });
    expect(server.requests).toHaveLength(3);
  });
});
