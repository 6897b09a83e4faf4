import { HistoryProvider } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { answer, bank } from "./bank.ts";
import { type Fixture, gate, open, reopen } from "./fixture.ts";
import { call } from "./scripted-client.ts";

/** Two processes that have both loaded the question before either of them stores its answer. */
async function twoProcesses(options: Parameters<typeof open>[1] = {}) {
  const { tools, ran } = bank();
  const both = gate();
  let loaded = 0;
  const barrier = {
    sourceId: "barrier",
    beforeRun: async () => {
      loaded += 1;
      if (loaded === 3) {
        both.open();
      }
      if (loaded > 1) {
        await both.passed;
      }
    },
  };
  const settings = {
    tools,
    historyPersistence: "per-service-call" as const,
    contextProviders: [barrier],
    ...options,
  };
  const first = open([[call("1", "pay")], "first done"], settings);
  const { approvalRequests } = await first.agent.run("go", { session: first.session() });
  return { first, second: reopen(first, ["second done"], settings), approvalRequests, ran };
}

function outcomes(processes: readonly [Fixture, boolean][], requests: Parameters<typeof answer>[0]) {
  return Promise.allSettled(
    processes.map(([process, approved]) =>
      process.agent.run(answer(requests, approved), { session: process.session() }),
    ),
  );
}

describe("Two processes that answer one request at once", () => {
  it("run the call once: the answer that is stored first counts, and the other run is a conflict", async () => {
    const { first, second, approvalRequests, ran } = await twoProcesses();
    const ended = await outcomes(
      [
        [first, true],
        [second, true],
      ],
      approvalRequests,
    );
    expect(ran).toEqual(["pay {}"]);
    expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(ended.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "conflict" } });
  });

  it("never say that a call was refused which ran", async () => {
    for (const order of [true, false]) {
      const { first, second, approvalRequests, ran } = await twoProcesses();
      await outcomes(
        [
          [first, order],
          [second, !order],
        ],
        approvalRequests,
      );
      const results = (await first.stored()).flatMap(({ contents }) =>
        contents.flatMap((content) => (content.type === "function_result" ? [content.exception ?? "none"] : [])),
      );
      expect(results).toEqual([ran.length === 1 ? "none" : "refused"]);
    }
  });

  it("store the answer under an id that is the same in every process", async () => {
    const { first, second, approvalRequests } = await twoProcesses();
    await outcomes(
      [
        [first, true],
        [second, true],
      ],
      approvalRequests,
    );
    const answers = (await first.stored()).filter(({ contents }) =>
      contents.some(({ type }) => type === "function_approval_response"),
    );
    expect(answers.map(({ messageId }) => messageId)).toEqual([`${approvalRequests[0]?.id}/#answer`]);
  });
});

describe("An answer that stands beside other words", () => {
  it("is stored in a message of its own in front of them, in both modes alike", async () => {
    for (const historyPersistence of ["per-run", "per-service-call"] as const) {
      const { tools } = bank();
      const fixture = open([[call("1", "pay")], "paid"], { tools, historyPersistence });
      const { approvalRequests } = await fixture.agent.run("go", { session: fixture.session(), runId: "r" });
      const { contents } = answer(approvalRequests);
      const input = { role: "user" as const, messageId: "mine", contents: ["gladly", ...contents] };
      await fixture.agent.run(input, { session: fixture.session(), runId: "q" });
      expect((await fixture.stored()).map(({ messageId }) => messageId)).toEqual([
        "r:i0",
        "r:o0",
        "r:o0/1/#answer",
        "mine",
        "r:o0/1",
        "q:o0",
      ]);
    }
  });

  it("is not stored where the policy stores no input, and its calls run all the same", async () => {
    const { tools, ran } = bank();
    const options = { tools, historyPersistence: "per-service-call" as const, history: { storeInputs: false } };
    const fixture = open([[call("1", "pay")], "paid"], options);
    const { approvalRequests } = await fixture.agent.run("go", { session: fixture.session() });
    await fixture.agent.run(answer(approvalRequests), { session: fixture.session() });
    expect(ran).toHaveLength(1);
    expect((await fixture.stored()).map(({ role }) => role)).toEqual(["assistant", "tool", "assistant"]);
  });

  it("that another provider keeps is not claimed there", async () => {
    const { tools, ran } = bank();
    const fixture = open([[call("1", "pay")], "paid"], { tools, historyPersistence: "per-service-call" });
    const audit = new HistoryProvider(fixture.store, { sourceId: "audit", load: false });
    const both = reopen(fixture, [[call("1", "pay")], "paid"], {
      tools,
      historyPersistence: "per-service-call",
      contextProviders: [audit],
    });
    const { approvalRequests } = await both.agent.run("go", { session: both.session() });
    await both.agent.run(answer(approvalRequests), { session: both.session() });
    expect(ran).toHaveLength(1);
  });
});
