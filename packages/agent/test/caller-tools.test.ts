import type { Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { open, reopen } from "./fixture.ts";
import { call, shape } from "./scripted-client.ts";

function plain(name: string, execute?: Tool["execute"]): Tool {
  return { name, parameters: { type: "object" }, ...(execute === undefined ? {} : { execute }) };
}

describe("Tools that only the caller can run", () => {
  const ask = plain("ask");

  it("end the run at the call, and the caller's result goes on in the next run without a repair", async () => {
    const first = open([[call("c", "ask", { q: "where?" })]], { tools: [ask] });
    const response = await first.agent.run("go", { session: first.session() });
    expect(response.openCalls).toMatchObject([{ callId: "c", name: "ask" }]);
    const second = reopen(first, ["Off to Rome."], { tools: [ask] });
    await second.agent.run(
      { role: "tool", contents: [{ type: "function_result", callId: "c", result: "Rome" }] },
      { session: second.session() },
    );
    expect(shape(second.client.calls[0]?.messages ?? [])).toEqual([
      "user: go",
      'assistant: call c ask {"q":"where?"}',
      'tool: result c "Rome"',
    ]);
    expect(second.diagnostics).toEqual([]);
    expect(await second.stored()).toHaveLength(4);
  });

  it("leave their fellows in the batch to run, whose results the next run keeps", async () => {
    let ran = 0;
    const look = plain("look", () => {
      ran += 1;
      return "seen";
    });
    const { agent, session, client, diagnostics, stored } = open(
      [[call("1", "ask"), call("2", "look"), call("3", "ask")], "done"],
      { tools: [ask, look] },
    );
    const response = await agent.run("go", { session: session() });
    expect(response.openCalls.map(({ callId }) => callId)).toEqual(["1", "3"]);
    await agent.run(
      {
        role: "tool",
        contents: ["1", "3"].map((callId) => ({ type: "function_result", callId, result: `answer ${callId}` })),
      },
      { session: session() },
    );
    expect(ran).toBe(1);
    expect(shape(client.calls[1]?.messages ?? []).slice(2)).toEqual([
      'tool: result 1 "answer 1"',
      'tool: result 2 "seen"',
      'tool: result 3 "answer 3"',
    ]);
    expect(diagnostics).toEqual([]);
    expect(new Set((await stored()).map(({ messageId }) => messageId)).size).toBe(6);
  });

  it("are named among the open calls also when an earlier call of the run had the same id", async () => {
    const look = plain("look", () => 1);
    const { agent } = open([[call("same", "look")], [call("same", "ask")]], { tools: [ask, look] });
    expect((await agent.run("go")).openCalls).toMatchObject([{ callId: "same", name: "ask" }]);
  });

  it("are closed for the model when the user says something else instead", async () => {
    const { agent, session, client, diagnostics } = open([[call("c", "ask")], "never mind then", "ok"], {
      tools: [ask],
    });
    await agent.run("go", { session: session() });
    await agent.run("forget it", { session: session() });
    expect(shape(client.calls[1]?.messages ?? []).slice(1)).toEqual([
      "assistant: call c ask {}",
      expect.stringContaining("interrupted"),
      "user: forget it",
    ]);
    expect(diagnostics.map(({ type }) => type)).toEqual(["open_call_closed"]);
    await agent.run("more", { session: session() });
    expect(diagnostics).toHaveLength(1);
  });

  it("take the first answer: a second one under another id changes nothing", async () => {
    const { agent, session, stored } = open([[call("c", "ask")], "a", "b"], { tools: [ask] });
    await agent.run("go", { session: session() });
    for (const result of ["first", "second"]) {
      await agent.run([{ role: "tool", contents: [{ type: "function_result", callId: "c", result }] }, "go on"], {
        session: session(),
      });
    }
    expect(shape(await stored()).filter((line) => line.startsWith("tool"))).toEqual(['tool: result c "first"']);
  });
});
