import type { Content, Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { answer, asked, BATCH, bank } from "./bank.ts";
import { open, reopen } from "./fixture.ts";
import { call, shape } from "./scripted-client.ts";

describe("A batch with a call that needs approval", () => {
  it("waits as a whole, and runs as a whole with the answer, each result in its place", async () => {
    const { agent, session, response, ran, keys, client } = await asked([BATCH, "paid"]);
    expect(ran).toEqual([]);
    expect(response.approvalRequests).toMatchObject([{ functionCall: { name: "pay", arguments: '{"sum":5}' } }]);
    expect(response.openCalls).toEqual([]);
    const done = await agent.run(answer(response.approvalRequests), { session: session() });
    expect(ran.toSorted()).toEqual(['look {"a":1}', 'look {"b":2}', 'pay {"sum":5}']);
    expect(new Set(keys).size).toBe(3);
    expect(shape(done.messages)).toEqual([
      'tool: result 1 "look done"',
      'tool: result 2 "pay done"',
      'tool: result 3 "look done"',
      "assistant: paid",
    ]);
    expect(shape(client.calls[1]?.messages ?? [])).toEqual([
      "user: go",
      'assistant: call 1 look {"a":1} | call 2 pay {"sum":5} | call 3 look {"b":2}',
      'tool: result 1 "look done"',
      'tool: result 2 "pay done"',
      'tool: result 3 "look done"',
    ]);
  });

  it("runs what needs no approval when the call that did is refused, and says so in its place", async () => {
    const { agent, session, response, ran, stored } = await asked([BATCH, "too bad"]);
    await agent.run(answer(response.approvalRequests, false, { reason: "too dear" }), { session: session() });
    expect(ran).toEqual(['look {"a":1}', 'look {"b":2}']);
    const results = (await stored()).flatMap(({ contents }) =>
      contents.filter((content) => content.type === "function_result"),
    );
    expect(results[1]).toMatchObject({
      callId: "2",
      result: "The user refused this call: too dear",
      exception: "refused",
    });
  });

  it("shows no function middleware a call that was refused", async () => {
    const seen: string[] = [];
    const { agent, session, response } = await asked([BATCH, "ok"], {
      middleware: [
        {
          kind: "function",
          handle: (invocation, next) => {
            seen.push(invocation.call.name);
            return next();
          },
        },
      ],
    });
    await agent.run(answer(response.approvalRequests, false), { session: session() });
    expect(seen).toEqual(["look", "look"]);
  });

  it("goes on with text that comes beside the answer", async () => {
    const { agent, session, response, client } = await asked([BATCH, "paid"]);
    const message = answer(response.approvalRequests);
    await agent.run({ ...message, contents: [...message.contents, "and hurry"] }, { session: session() });
    expect(shape(client.calls[1]?.messages ?? []).at(-1)).toBe("user: and hurry");
    expect(client.calls[1]?.messages).toHaveLength(6);
  });

  it("ends the run when function middleware ends the batch", async () => {
    const { agent, session, response, client } = await asked([BATCH, "never said"], {
      middleware: [
        {
          kind: "function",
          handle: (invocation, next) => {
            invocation.terminate();
            return next();
          },
        },
      ],
    });
    const done = await agent.run(answer(response.approvalRequests), { session: session() });
    expect(done.messages).toHaveLength(3);
    expect(client.calls).toHaveLength(1);
  });

  it("hands the caller's own calls over when the rest has run", async () => {
    const { tools, ran } = bank();
    const ask: Tool = { name: "ask", parameters: { type: "object" } };
    const { agent, session, client } = open([[call("1", "pay"), call("2", "ask")], "all done"], {
      tools: [...tools, ask],
    });
    const first = await agent.run("go", { session: session() });
    const second = await agent.run(answer(first.approvalRequests), { session: session() });
    expect(ran).toEqual(["pay {}"]);
    expect(shape(second.messages)).toEqual(['tool: result 1 "pay done"', "assistant: call 2 ask {}"]);
    expect(second.openCalls).toMatchObject([{ callId: "2", name: "ask" }]);
    expect(client.calls).toHaveLength(1);
    await agent.run(
      { role: "tool", contents: [{ type: "function_result", callId: "2", result: "Rome" }] },
      { session: session() },
    );
    expect(shape(client.calls[1]?.messages ?? []).slice(1)).toEqual([
      "assistant: call 1 pay {} | call 2 ask {}",
      'tool: result 1 "pay done"',
      'tool: result 2 "Rome"',
    ]);
    expect(ran).toHaveLength(1);
  });

  it("is shown with what it came to when the caller never answers the calls that were handed over", async () => {
    const { tools, ran } = bank();
    const ask: Tool = { name: "ask", parameters: { type: "object" } };
    const { agent, session, client } = open([[call("1", "pay"), call("2", "ask")], "fine"], { tools: [...tools, ask] });
    const first = await agent.run("go", { session: session() });
    await agent.run(answer(first.approvalRequests), { session: session() });
    await agent.run("never mind", { session: session() });
    expect(shape(client.calls[1]?.messages ?? []).slice(1)).toEqual([
      "assistant: call 1 pay {} | call 2 ask {}",
      'tool: result 1 "pay done"',
      expect.stringContaining("interrupted"),
      "user: never mind",
    ]);
    expect(ran).toEqual(["pay {}"]);
  });

  it("is hidden from the model with its reasoning while it waits, so other turns stay valid", async () => {
    const reasoning = { type: "text_reasoning" as const, text: "hm" };
    const { agent, session, client } = await asked([[reasoning, ...BATCH], "hello"]);
    await agent.run("something else", { session: session() });
    expect(shape(client.calls[1]?.messages ?? [])).toEqual(["user: go", "user: something else"]);
  });
});

describe("Approval answers", () => {
  it("may come one by one, over several runs and restarts; the last one starts the batch, and no model is asked before", async () => {
    const first = await asked([[call("1", "pay"), call("2", "wire"), call("3", "pay", { more: true })]]);
    const { tools, ran } = bank();
    const second = reopen(first, [], { tools });
    const [one, two, three] = first.response.approvalRequests;
    if (one === undefined || two === undefined || three === undefined) {
      throw new Error("three requests were expected");
    }
    const waiting = await second.agent.run(answer([two]), { session: second.session() });
    expect(waiting.approvalRequests.map(({ id }) => id)).toEqual([one.id, three.id]);
    const third = reopen(second, [], { tools });
    await third.agent.run(answer([three], false), { session: third.session() });
    expect(ran).toEqual([]);
    const fourth = reopen(third, ["done"], { tools });
    const done = await fourth.agent.run(answer([one]), { session: fourth.session() });
    expect(ran).toEqual(["pay {}", "wire {}"]);
    expect(shape(done.messages).at(2)).toContain("refused");
    expect(done.text).toBe("done");
    expect(second.client.calls.length + third.client.calls.length).toBe(0);
  });

  it("find their request after a restart and more turns than the window holds", async () => {
    const first = await asked([BATCH, "a", "b", "c", "d"], { history: { maxMessages: 2 } });
    for (const text of ["w", "x", "y", "z"]) {
      await first.agent.run(text, { session: first.session() });
    }
    const { tools, ran } = bank();
    const second = reopen(first, ["paid", "fine"], { tools, history: { maxMessages: 2 } });
    await second.agent.run(answer(first.response.approvalRequests), { session: second.session() });
    expect(ran).toHaveLength(3);
    expect((await second.agent.run("thanks", { session: second.session() })).text).toBe("fine");
    expect(second.diagnostics).toEqual([]);
  });

  it("count once: repeated, they run nothing and ask no model, and are reported", async () => {
    const { agent, session, response, ran, client, diagnostics } = await asked([BATCH, "paid"]);
    await agent.run(answer(response.approvalRequests), { session: session() });
    const again = await agent.run(answer(response.approvalRequests), { session: session() });
    expect(ran).toHaveLength(3);
    expect(again.messages).toEqual([]);
    expect(client.calls).toHaveLength(2);
    expect(diagnostics).toMatchObject([{ type: "approval_ignored" }]);
  });

  it("count once when two of them come at the same time", async () => {
    const { agent, session, response, ran } = await asked([BATCH, "paid"]);
    const runs = [1, 2].map(() => agent.run(answer(response.approvalRequests), { session: session() }));
    await Promise.all(runs);
    expect(ran).toHaveLength(3);
  });

  it("take the first of two that contradict each other", async () => {
    const { agent, session, response, ran } = await asked([[call("1", "pay")], "ok"]);
    const [request] = response.approvalRequests;
    const contents = [false, true].flatMap((approved) => answer(request ? [request] : [], approved).contents);
    await agent.run({ role: "user", contents }, { session: session() });
    expect(ran).toEqual([]);
  });
});

describe("What the model sees while a call waits", () => {
  it("is its text, with the reasoning that led to it, and nothing of the call", async () => {
    const { tools } = bank();
    const thought = (protectedData: string): Content => ({ type: "text_reasoning", protectedData });
    const fixture = open([[thought("a"), { type: "text", text: "I pay." }, thought("b"), call("1", "pay")], "sunny"], {
      tools,
    });
    await fixture.agent.run("go", { session: fixture.session() });
    await fixture.agent.run("weather?", { session: fixture.session() });
    const said = fixture.client.calls[1]?.messages[1]?.contents;
    expect(said).toEqual([thought("a"), { type: "text", text: "I pay." }]);
  });
});
