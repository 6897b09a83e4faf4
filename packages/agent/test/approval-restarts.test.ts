import type { Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { answer, BATCH, bank } from "./bank.ts";
import { failureOf, gate, open, reopen, TestStore } from "./fixture.ts";
import { call, shape } from "./scripted-client.ts";

describe("A process that ends after the answer", () => {
  it("leaves the batch waiting when it stored nothing, and the answer can be given again", async () => {
    const { tools, ran } = bank();
    const first = open([BATCH, { pieces: [], throws: new Error("model is down") }], { tools });
    const { approvalRequests } = await first.agent.run("go", { session: first.session() });
    await failureOf(first.agent.run(answer(approvalRequests), { session: first.session() }));
    expect(ran).toHaveLength(3);
    expect(await first.stored()).toHaveLength(2);
    const second = reopen(first, ["paid"], { tools });
    expect((await second.agent.run(answer(approvalRequests), { session: second.session() })).text).toBe("paid");
  });

  it("gives a tool the same idempotency key when the answer is given again, so it can refuse to act twice", async () => {
    const { tools, keys } = bank();
    const first = open([BATCH, { pieces: [], throws: new Error("model is down") }], { tools });
    const { approvalRequests } = await first.agent.run("go", { session: first.session() });
    await failureOf(first.agent.run(answer(approvalRequests), { session: first.session() }));
    const second = reopen(first, ["paid"], { tools });
    await second.agent.run(answer(approvalRequests), { session: second.session() });
    expect(keys).toHaveLength(6);
    expect(keys.slice(3)).toEqual(keys.slice(0, 3));
  });

  it("keeps results that it stored call by call, and a later turn runs nothing again", async () => {
    const { tools, ran } = bank();
    const options = { tools, historyPersistence: "per-service-call" as const };
    const first = open([BATCH, { pieces: [], throws: new Error("model is down") }], options);
    const { approvalRequests } = await first.agent.run("go", { session: first.session() });
    await failureOf(first.agent.run(answer(approvalRequests), { session: first.session() }));
    expect(ran).toHaveLength(3);
    const second = reopen(first, ["all paid"], options);
    await second.agent.run([answer(approvalRequests), "did it work?"], { session: second.session() });
    expect(ran).toHaveLength(3);
    expect(shape(second.client.calls[0]?.messages ?? []).slice(2)).toEqual([
      'tool: result 1 "look done"',
      'tool: result 2 "pay done"',
      'tool: result 3 "look done"',
      "user: did it work?",
    ]);
  });

  it("goes on where it ended when the run that brought the answer is tried again under its name", async () => {
    const { tools, ran } = bank();
    const options = { tools, historyPersistence: "per-service-call" as const };
    const first = open([BATCH, { pieces: [], throws: new Error("model is down") }], options);
    const { approvalRequests } = await first.agent.run("go", { session: first.session() });
    const retry = (fixture: typeof first) =>
      fixture.agent.run(answer(approvalRequests), { session: fixture.session(), runId: "r" });
    await failureOf(retry(first));
    const second = reopen(first, ["all paid"], options);
    expect((await retry(second)).text).toBe("all paid");
    expect((await retry(second)).text).toBe("all paid");
    expect(ran).toHaveLength(3);
    expect(second.client.calls).toHaveLength(1);
  });

  it("asks no model when a run that brought a part of the answers is tried again", async () => {
    for (const historyPersistence of ["per-run", "per-service-call"] as const) {
      const { tools } = bank();
      const first = open([[call("1", "pay"), call("2", "pay")]], { tools, historyPersistence });
      const { approvalRequests } = await first.agent.run("go", { session: first.session() });
      for (const fixture of [first, reopen(first, [], { tools, historyPersistence })]) {
        const partly = answer(approvalRequests.slice(0, 1));
        const response = await fixture.agent.run(partly, { session: fixture.session(), runId: "r" });
        expect(response.approvalRequests).toEqual(approvalRequests.slice(1));
      }
    }
  });

  it("never runs a call again that it may have begun: the answer is stored before the tools start", async () => {
    const started = gate();
    let runs = 0;
    const pay: Tool = {
      name: "pay",
      parameters: { type: "object" },
      approval: "required",
      execute: () => {
        runs += 1;
        started.open();
        return new Promise(() => undefined);
      },
    };
    const options = { tools: [pay], historyPersistence: "per-service-call" as const };
    const first = open([[call("1", "pay")]], options);
    const { approvalRequests } = await first.agent.run("go", { session: first.session() });
    first.agent.run(answer(approvalRequests), { session: first.session(), runId: "r" }).catch(() => undefined);
    await started.passed;
    // The process is gone; the user presses the button again, then the client retries the run, then the user talks.
    const second = reopen(first, ["unclear", "let us see"], options);
    await second.agent.run(answer(approvalRequests), { session: second.session() });
    await second.agent.run(answer(approvalRequests), { session: second.session(), runId: "r" });
    await second.agent.run("well?", { session: second.session() });
    expect(runs).toBe(1);
    expect(shape(await second.stored()).filter((line) => line.startsWith("tool"))).toEqual([
      'tool: result 1 "The call was interrupted. Whether it took effect is unknown."',
    ]);
  });

  it("is made up for by the next turn even when nobody answers again", async () => {
    const { tools, ran } = bank();
    const options = { tools, historyPersistence: "per-service-call" as const };
    const first = open([BATCH], options);
    const { approvalRequests } = await first.agent.run("go", { session: first.session() });
    // The store takes the answer and no result: what the process did after that is unknown.
    let appends = 0;
    first.store.before = ({ name }) => {
      appends += name === "append" ? 1 : 0;
      if (appends > 1) {
        throw new Error("gone");
      }
    };
    await failureOf(first.agent.run(answer(approvalRequests), { session: first.session() }));
    const before = ran.length;
    const second = reopen(first, ["sorry", "ok"], options);
    await second.agent.run("what happened?", { session: second.session() });
    await second.agent.run("thanks", { session: second.session() });
    expect(ran).toHaveLength(before);
    expect(shape(second.client.calls[0]?.messages ?? []).filter((line) => line.includes("interrupted"))).toHaveLength(
      3,
    );
    expect(second.diagnostics.filter(({ type }) => type === "open_call_closed").length).toBeLessThanOrEqual(3);
  });

  it("runs nothing when the answer itself cannot be stored", async () => {
    const { tools, ran } = bank();
    const store = new TestStore();
    const fixture = open([BATCH], { tools, store, historyPersistence: "per-service-call" });
    const { approvalRequests } = await fixture.agent.run("go", { session: fixture.session() });
    store.before = ({ name }) => {
      if (name === "append") {
        throw new Error("read only");
      }
    };
    await failureOf(fixture.agent.run(answer(approvalRequests), { session: fixture.session() }));
    expect(ran).toEqual([]);
  });
});

describe("Approval that depends on the arguments", () => {
  const transfer = (approval: Tool["approval"], ran: unknown[]): Tool => ({
    name: "transfer",
    parameters: { type: "object" },
    approval,
    execute: (args) => {
      ran.push(args);
    },
  });

  it("asks for the calls for which the function says so, and lets other batches run", async () => {
    const ran: unknown[] = [];
    const approval = async (args: unknown) => (args as { sum: number }).sum > 100;
    const { agent, session } = open(
      [[call("1", "transfer", { sum: 5 })], [call("2", "transfer", { sum: 500 })], "ok"],
      {
        tools: [transfer(approval, ran)],
      },
    );
    const response = await agent.run("go", { session: session() });
    expect(ran).toEqual([{ sum: 5 }]);
    expect(response.approvalRequests.map(({ functionCall }) => functionCall.callId)).toEqual(["2"]);
  });

  it("asks when the function fails or when the arguments cannot be read", async () => {
    const ran: unknown[] = [];
    const failing = () => {
      throw new Error("no rule");
    };
    const broken = { type: "function_call" as const, callId: "1", name: "transfer", arguments: "{" };
    for (const answerOfModel of [[call("1", "transfer")], [broken]]) {
      const { agent, session } = open([answerOfModel], { tools: [transfer(failing, ran)] });
      expect((await agent.run("go", { session: session() })).approvalRequests).toHaveLength(1);
    }
    expect(ran).toEqual([]);
  });

  it("does not hold up an abort when the function never answers", async () => {
    const controller = new AbortController();
    const silent = () => {
      controller.abort();
      return new Promise<boolean>(() => undefined);
    };
    const { agent } = open([[call("1", "transfer")]], { tools: [transfer(silent, [])] });
    expect(await failureOf(agent.run("go", { signal: controller.signal }))).toMatchObject({ name: "AbortError" });
  });
});
