import type { ChatUpdate, Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { gate, open, settled } from "./fixture.ts";
import { type Answer, call, shape } from "./scripted-client.ts";

function plain(name: string, execute?: Tool["execute"], more: Partial<Tool> = {}): Tool {
  return { name, parameters: { type: "object" }, ...(execute === undefined ? {} : { execute }), ...more };
}

describe("Calls of one answer", () => {
  it("run side by side, and their results stand in the order of the calls whichever is first", async () => {
    const slow = gate();
    const log: string[] = [];
    const tools = [
      plain("slow", async () => {
        log.push("slow begins");
        await slow.passed;
        log.push("slow ends");
        return "s";
      }),
      plain("fast", () => {
        log.push("fast");
        slow.open();
        return "f";
      }),
    ];
    const { agent, session, stored } = open([[call("1", "slow"), call("2", "fast")], "done"], { tools });
    const response = await agent.run("go", { session: session() });
    expect(log).toEqual(["slow begins", "fast", "slow ends"]);
    const expected = [
      "assistant: call 1 slow {} | call 2 fast {}",
      'tool: result 1 "s"',
      'tool: result 2 "f"',
      "assistant: done",
    ];
    expect(shape(response.messages)).toEqual(expected);
    expect(shape(await stored()).slice(1)).toEqual(expected);
  });

  it("get one result each when a service uses one call id for all of them, in one answer and in the next", async () => {
    const ran: unknown[] = [];
    const note = plain("note", (args) => {
      ran.push(args);
      return args;
    });
    const { agent, session, stored, client } = open(
      [
        [call("same", "note", { n: 1 }), call("same", "note", { n: 2 })],
        [call("same", "note", { n: 3 })],
        "done",
        "ok",
      ],
      { tools: [note] },
    );
    await agent.run("go", { session: session() });
    await agent.run("and now?", { session: session() });
    expect(ran).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(new Set((await stored()).map(({ messageId }) => messageId)).size).toBe(9);
    expect(shape(client.calls[3]?.messages ?? []).slice(0, 6)).toEqual([
      "user: go",
      'assistant: call same note {"n":1} | call same note {"n":2}',
      'tool: result same {"n":1}',
      'tool: result same {"n":2}',
      'assistant: call same note {"n":3}',
      'tool: result same {"n":3}',
    ]);
  });

  it("that the service ran itself are not run here, in one message with their results or in two", async () => {
    let ran = 0;
    const search = plain("search", () => {
      ran += 1;
    });
    const result = { type: "function_result" as const, callId: "h", result: "hits" };
    const inOne: Answer = { pieces: [{ contents: [call("h", "search"), result] }, "found"] };
    const inTwo: Answer = {
      pieces: [{ contents: [call("h", "search")] }, { role: "tool", contents: [result] }, "found"],
    };
    for (const answer of [inOne, inTwo]) {
      const { agent, client, session, stored } = open([answer, "more"], { tools: [search] });
      await agent.run("go", { session: session() });
      await agent.run("again", { session: session() });
      expect(client.calls).toHaveLength(2);
      expect(shape(client.calls[1]?.messages ?? [])).toEqual([
        "user: go",
        "assistant: call h search {}",
        'tool: result h "hits"',
        "assistant: found",
        "user: again",
      ]);
      expect(new Set((await stored()).map(({ messageId }) => messageId)).size).toBe(6);
    }
    expect(ran).toBe(0);
  });

  it("are put together from pieces that arrive mixed", async () => {
    const piece = (callId: string, name: string, text: string): ChatUpdate => ({
      contents: [{ type: "function_call", callId, name, arguments: text }],
    });
    const seen: unknown[] = [];
    const note = plain("note", (args) => {
      seen.push(args);
    });
    const { agent } = open(
      [
        {
          pieces: [
            piece("a", "note", '{"n":'),
            piece("b", "note", ""),
            piece("a", "", "1}"),
            piece("b", "", '{"n":2}'),
          ],
        },
        "done",
      ],
      { tools: [note] },
    );
    await agent.run("go");
    expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
  });
});

describe("The end of the loop", () => {
  it("switches tools off after three batches in a row that failed, and ends with text", async () => {
    const broken = plain("broken", () => {
      throw new Error("no");
    });
    const script: Answer[] = [[call("1", "broken")], [call("2", "broken")], [call("3", "broken")], "I give up."];
    const { agent, client } = open(script, { tools: [broken] });
    const response = await agent.run("go");
    expect(response.text).toBe("I give up.");
    expect(client.calls.map(({ options }) => options.toolChoice)).toEqual([undefined, undefined, undefined, "none"]);
  });

  it("counts failures in a row only, and a batch in which one call succeeds as a success", async () => {
    let attempts = 0;
    const tools = [
      plain("flaky", () => {
        attempts += 1;
        if (attempts !== 3) {
          throw new Error("no");
        }
        return "ok";
      }),
      plain("fine", () => 1),
    ];
    const flaky = (id: string) => [call(id, "flaky")];
    const { agent, client } = open(
      [flaky("1"), flaky("2"), flaky("3"), flaky("4"), flaky("5"), [call("6", "flaky"), call("7", "fine")], "done"],
      { tools },
    );
    await agent.run("go");
    expect(client.calls).toHaveLength(7);
    expect(client.calls.some(({ options }) => options.toolChoice === "none")).toBe(false);
  });

  it("comes after forty model calls with tools and one without, whatever the model wants", async () => {
    const endless: Answer[] = Array.from({ length: 41 }, (_, index) => [call(`c${index}`, "again")]);
    let ran = 0;
    const again = plain("again", () => {
      ran += 1;
    });
    const { agent, client, session, stored } = open([...endless, "fine"], { tools: [again] });
    const response = await agent.run("go", { session: session() });
    expect(client.calls).toHaveLength(41);
    expect(client.calls.at(-2)?.options.toolChoice).toBeUndefined();
    expect(client.calls.at(-1)?.options.toolChoice).toBe("none");
    expect(ran).toBe(40);
    // The call that was made all the same is closed, so the conversation can go on.
    expect(shape(response.messages).at(-1)).toContain("switched off");
    expect(response.openCalls).toEqual([]);
    expect(await stored()).toHaveLength(1 + 41 * 2);
    expect((await agent.run("enough", { session: session() })).text).toBe("fine");
  });

  it("comes after fewer model calls when the agent says so", async () => {
    const again = plain("again", () => 1);
    const { agent, client } = open([[call("1", "again")], "text"], { tools: [again], maxModelCalls: 1 });
    expect((await agent.run("go")).text).toBe("text");
    expect(client.calls.map(({ options }) => options.toolChoice)).toEqual([undefined, "none"]);
  });

  it("is not held up by a forced choice, which holds for the first model call only", async () => {
    const look = plain("look", () => 1);
    for (const toolChoice of ["required", { name: "look" }] as const) {
      const { agent, client } = open([[call("1", "look")], "done"], { tools: [look], chatOptions: { toolChoice } });
      await agent.run("go");
      expect(client.calls.map(({ options }) => options.toolChoice)).toEqual([toolChoice, undefined]);
    }
  });
});

describe("The tools of a run", () => {
  it("are asked for before each model call when a provider gives them as a function", async () => {
    let asked = 0;
    const provider = {
      sourceId: "p",
      beforeRun: async (context: { addTools(tools: () => readonly Tool[]): void }) =>
        context.addTools(() => {
          asked += 1;
          return asked === 1 ? [plain("unlock", () => 1)] : [plain("unlock", () => 1), plain("extra", () => 2)];
        }),
    };
    const { agent, client } = open([[call("1", "unlock")], [call("2", "extra")], "done"], {
      contextProviders: [provider],
    });
    const response = await agent.run("go");
    expect(client.calls.map(({ options }) => options.tools?.map(({ name }) => name))).toEqual([
      ["unlock"],
      ["unlock", "extra"],
      ["unlock", "extra"],
    ]);
    expect(shape(response.messages)).toContain("tool: result 2 2");
  });

  it("may hold one object twice, and never two under one name, wherever they come from", async () => {
    const look = plain("look", () => 1);
    const { agent, client } = open(["ok"], { tools: [look] });
    await agent.run("go", { tools: [look] });
    expect(client.calls[0]?.options.tools).toHaveLength(1);
    await expect(agent.run("go", { tools: [plain("look", () => 2)] })).rejects.toMatchObject({
      code: "configuration",
      message: expect.stringContaining("look"),
    });
    expect(client.calls).toHaveLength(1);
  });

  it("that the model made up get an error result, and the loop goes on", async () => {
    const { agent } = open([[call("1", "imagined")], "sorry"]);
    const response = await agent.run("go");
    expect(shape(response.messages)).toEqual([
      "assistant: call 1 imagined {}",
      'tool: result 1 "Error: there is no tool named imagined."',
      "assistant: sorry",
    ]);
  });

  it("see the run, the call and the trusted owner, and no session in a run without one", async () => {
    const seen: unknown[] = [];
    const look = plain("look", (_, { runId, callId, owner, session }) => {
      seen.push([runId, callId, owner, session?.sessionId]);
    });
    const { agent, session } = open([[call("1", "look")], "a", [call("2", "look")], "b"], { tools: [look] });
    await agent.run("go", { session: session(), runId: "r1" });
    await agent.run("go", { runId: "r2" });
    await settled();
    expect(seen).toEqual([
      ["r1", "1", "ann", "s"],
      ["r2", "2", null, undefined],
    ]);
  });
});
