import type { Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { failureOf, open, reopen } from "./fixture.ts";
import { type Answer, call, shape } from "./scripted-client.ts";

const down: Answer = { pieces: [], throws: new Error("model is down") };

function keyed(keys: string[], ran: unknown[] = []): Tool {
  return {
    name: "charge",
    parameters: { type: "object" },
    execute: (args, { idempotencyKey }) => {
      keys.push(idempotencyKey);
      ran.push(args);
      return "charged";
    },
  };
}

describe("A run that is named", () => {
  it.each(["per-run", "per-service-call"] as const)(
    "is stored once, and done again gives the stored answer without a model call: %s",
    async (historyPersistence) => {
      const options = { tools: [keyed([])], historyPersistence };
      const first = open([[call("1", "charge")], "done"], options);
      const response = await first.agent.run("go", { session: first.session(), runId: "r" });
      const second = reopen(first, [], options);
      const again = await second.agent.run("go", { session: second.session(), runId: "r" });
      expect(again.messages).toEqual(response.messages);
      expect([again.runId, again.text]).toEqual(["r", "done"]);
      expect(second.client.calls).toHaveLength(0);
      expect(await second.stored()).toHaveLength(4);
    },
  );

  it("gives the stored answer also after later turns, and to a stream", async () => {
    const { agent, session, stored } = open(["one", "two"]);
    await agent.run("a", { session: session(), runId: "r1" });
    await agent.run("b", { session: session(), runId: "r2" });
    const pieces: string[] = [];
    for await (const { text } of agent.runStream("a", { session: session(), runId: "r1" })) {
      pieces.push(text);
    }
    expect(pieces).toEqual(["one"]);
    expect(await stored()).toHaveLength(4);
  });

  it("runs once when it is asked for twice at the same time", async () => {
    const { agent, session, client, stored } = open(["one"]);
    const responses = await Promise.all([1, 2].map(() => agent.run("a", { session: session(), runId: "r" })));
    expect(responses.map(({ text }) => text)).toEqual(["one", "one"]);
    expect(client.calls).toHaveLength(1);
    expect(await stored()).toHaveLength(2);
  });

  it("stores input and answer once when the answer could not be stored the first time", async () => {
    const first = open(["one"]);
    first.store.before = ({ name }) => {
      if (name === "append") {
        throw new Error("gone");
      }
    };
    await failureOf(first.agent.run("a", { session: first.session(), runId: "r" }));
    const second = reopen(first, ["two"]);
    await second.agent.run("a", { session: second.session(), runId: "r" });
    expect(shape(await second.stored())).toEqual(["user: a", "assistant: two"]);
  });

  it("stores once when the answer was stored although the store said that it may not be", async () => {
    const first = open(["one"]);
    let isLost = true;
    const append = first.store.append.bind(first.store);
    first.store.append = async (...given) => {
      const result = await append(...given);
      if (isLost) {
        isLost = false;
        throw new Error("the answer was lost on the way");
      }
      return result;
    };
    await failureOf(first.agent.run("a", { session: first.session(), runId: "r" }));
    expect((await first.agent.run("a", { session: first.session(), runId: "r" })).text).toBe("one");
    expect(await first.stored()).toHaveLength(2);
  });

  it("has nothing to do with a run of the same name in another conversation", async () => {
    const keys: string[] = [];
    const { agent, client } = open([[call("1", "charge")], "one", [call("1", "charge")], "two"], {
      tools: [keyed(keys)],
    });
    const answers: string[] = [];
    for (const [sessionId, owner] of [
      ["s", "ann"],
      ["s", "bob"],
    ] as const) {
      answers.push((await agent.run("a", { session: agent.createSession({ sessionId, owner }), runId: "r" })).text);
    }
    expect(answers).toEqual(["one", "two"]);
    expect(client.calls).toHaveLength(4);
    // A tool that refuses to act twice must not take Bob's order for Ann's.
    expect(new Set(keys).size).toBe(2);
  });

  it("goes on where it broke off when it was given up and the part was kept, in place of passing for complete", async () => {
    for (const historyPersistence of ["per-run", "per-service-call"] as const) {
      const options = { history: { keepPartial: true }, historyPersistence };
      const first = open([{ pieces: ["Once upon ", "a time"] }], options);
      for await (const _ of first.agent.runStream("tell me", { session: first.session(), runId: "r" })) {
        break;
      }
      const second = reopen(first, ["there was a queue."], options);
      for (const attempt of [1, 2]) {
        const response = await second.agent.run("tell me", { session: second.session(), runId: "r" });
        expect([attempt, shape(response.messages)]).toEqual([
          attempt,
          ["assistant: Once upon ", "assistant: there was a queue."],
        ]);
      }
      expect(second.client.calls).toHaveLength(1);
      expect(await second.stored()).toHaveLength(3);
    }
  });

  it("is not taken for done because it was given up while its tools ran", async () => {
    const controller = new AbortController();
    const stuck: Tool = {
      name: "stuck",
      parameters: { type: "object" },
      execute: () => {
        controller.abort();
        return new Promise(() => undefined);
      },
    };
    const options = { tools: [stuck], history: { keepPartial: true } };
    const first = open([[call("1", "stuck")]], options);
    await failureOf(first.agent.run("go", { session: first.session(), runId: "r", signal: controller.signal }));
    const second = reopen(first, ["unclear"], options);
    expect((await second.agent.run("go", { session: second.session(), runId: "r" })).text).toBe("unclear");
  });

  it("is not taken for done because the caller passes messages under its name", async () => {
    const { agent, session, stored } = open(["one", "two", "three"]);
    const first = await agent.run("a", { runId: "r" });
    const second = await agent.run(["a", ...first.messages, "b"], { runId: "r" });
    expect(second.text).toBe("two");
    expect(second.messages[0]?.messageId).not.toBe(first.messages[0]?.messageId);
    await agent.run(["a", ...first.messages, "b"], { runId: "r", session: session() });
    expect(shape(await stored())).toEqual(["user: a", "assistant: one", "user: b", "assistant: three"]);
  });

  it("tells of input that is another than the run had before, and of no other", async () => {
    const { agent, session, diagnostics } = open(["one"]);
    const photo = { type: "data", data: new Uint8Array([1, 2]), mediaType: "image/png" } as const;
    const input = [{ role: "user", contents: ["look", photo] } as const, "what is it?"];
    await agent.run(input, { session: session(), runId: "r" });
    await agent.run(input, { session: session(), runId: "r" });
    expect(diagnostics).toEqual([]);
    expect((await agent.run([input[0] ?? "", "who is it?"], { session: session(), runId: "r" })).text).toBe("one");
    expect(diagnostics).toMatchObject([{ type: "run_input_ignored", messageId: "r:i1" }]);
  });

  it("has nothing to do with a run whose name begins alike", async () => {
    const { agent, session } = open(["one", "two", "three"]);
    for (const runId of ["r", "r:o", "r:o1"]) {
      await agent.run(runId, { session: session(), runId });
    }
    const texts = await Promise.all(
      ["r", "r:o", "r:o1"].map(async (runId) => (await agent.run("x", { session: session(), runId })).messages),
    );
    expect(texts.map((messages) => shape(messages))).toEqual([
      ["assistant: one"],
      ["assistant: two"],
      ["assistant: three"],
    ]);
  });

  it("still waits for the caller when it is asked for again: its own calls are not closed", async () => {
    const ask: Tool = { name: "ask", parameters: { type: "object" } };
    for (const historyPersistence of ["per-run", "per-service-call"] as const) {
      const first = open([[call("1", "charge"), call("2", "ask")]], { tools: [ask, keyed([])], historyPersistence });
      await first.agent.run("go", { session: first.session(), runId: "r" });
      const second = reopen(first, ["thanks"], { tools: [ask, keyed([])], historyPersistence });
      const again = await second.agent.run("go", { session: second.session(), runId: "r" });
      expect(again.openCalls).toMatchObject([{ callId: "2", name: "ask" }]);
      await second.agent.run(
        { role: "tool", contents: [{ type: "function_result", callId: "2", result: 42 }] },
        { session: second.session() },
      );
      expect(shape(second.client.calls[0]?.messages ?? []).at(-1)).toBe("tool: result 2 42");
      expect(second.diagnostics).toEqual([]);
    }
  });

  it("still waits for approval when it is asked for again", async () => {
    const pay: Tool = { ...keyed([]), name: "pay", approval: "required" };
    const first = open([[call("1", "pay")]], { tools: [pay] });
    const response = await first.agent.run("go", { session: first.session(), runId: "r" });
    const second = reopen(first, [], { tools: [pay] });
    const again = await second.agent.run("go", { session: second.session(), runId: "r" });
    expect(again.approvalRequests).toEqual(response.approvalRequests);
  });

  it("numbers its messages behind those of an attempt that left something out", async () => {
    const blank: Answer = {
      pieces: [
        { messageId: "m1", contents: [] },
        { messageId: "m2", contents: [call("1", "charge")] },
      ],
    };
    const keys: string[] = [];
    const options = { tools: [keyed(keys)], historyPersistence: "per-service-call" as const };
    const first = open([blank, down], options);
    await failureOf(first.agent.run("go", { session: first.session(), runId: "r" }));
    const second = reopen(first, ["done"], options);
    await second.agent.run("go", { session: second.session(), runId: "r" });
    expect(shape(await second.stored())).toEqual([
      "user: go",
      "assistant: call 1 charge {}",
      'tool: result 1 "charged"',
      "assistant: done",
    ]);
    expect(keys).toHaveLength(1);
  });
});

describe("The idempotency key of a call", () => {
  it("is the same when the run is tried again, whatever ids the model gives its calls", async () => {
    const keys: string[] = [];
    const script = (suffix: string): Answer[] => [
      [call(`a${suffix}`, "charge"), call(`b${suffix}`, "charge")],
      [call(`c${suffix}`, "charge")],
    ];
    const first = open([...script("1"), down], { tools: [keyed(keys)] });
    await failureOf(first.agent.run("go", { session: first.session(), runId: "r" }));
    const second = reopen(first, [...script("2"), "done"], { tools: [keyed(keys)] });
    await second.agent.run("go", { session: second.session(), runId: "r" });
    expect(keys).toHaveLength(6);
    expect(new Set(keys.slice(0, 3)).size).toBe(3);
    expect(keys.slice(3)).toEqual(keys.slice(0, 3));
  });

  it("differs between runs, and between calls that share a call id", async () => {
    const keys: string[] = [];
    const same = [call("1", "charge"), call("1", "charge")];
    const { agent, session } = open([same, "a", same, "b"], { tools: [keyed(keys)] });
    await agent.run("go", { session: session() });
    await agent.run("go", { session: session() });
    expect(new Set(keys).size).toBe(4);
  });

  it("says nothing about who asked, because it may be handed to services of others", async () => {
    const keys: string[] = [];
    const { agent } = open([[call("1", "charge")], "done"], { tools: [keyed(keys)] });
    const session = agent.createSession({ sessionId: "the-session", owner: "ann@example.org" });
    await agent.run("go", { session, runId: "the-run" });
    expect(keys[0]).not.toMatch(/ann|session|run/);
    expect(keys[0]?.length).toBeLessThan(64);
  });
});
