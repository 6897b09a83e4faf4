import { AgentFrameworkError, type Content, type MessageInput, type Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { functionMiddleware } from "../src/index.ts";
import { answer, bank } from "./bank.ts";
import { failureOf, gate, open, reopen, TestStore } from "./fixture.ts";
import { call, shape } from "./scripted-client.ts";

const PER_CALL = { historyPersistence: "per-service-call" } as const;
const MODES = ["per-run", "per-service-call"] as const;
const TWO: readonly Content[] = [call("1", "pay"), call("2", "wire")];

describe("Answers that come in parts", () => {
  it.each(MODES)("may be given again together with the rest (%s)", async (historyPersistence) => {
    const { tools, ran } = bank();
    const fixture = open([TWO, "both done"], { tools, historyPersistence });
    const { approvalRequests } = await fixture.agent.run("go", { session: fixture.session() });
    await fixture.agent.run(answer(approvalRequests.slice(0, 1)), { session: fixture.session() });
    const response = await fixture.agent.run(answer(approvalRequests), { session: fixture.session() });
    expect(response.text).toBe("both done");
    expect(ran).toEqual(["pay {}", "wire {}"]);
  });

  it.each(MODES)("may come in a transcript that is sent again with its ids (%s)", async (historyPersistence) => {
    const { tools, ran } = bank();
    const fixture = open([TWO, "both done"], { tools, historyPersistence });
    const first = await fixture.agent.run("go", { session: fixture.session() });
    const [one = [], two = []] = first.approvalRequests.map((request) => [request]);
    const transcript: MessageInput[] = [...first.messages];
    const said = { ...answer(one), messageId: "u2" };
    await fixture.agent.run([...transcript, said], { session: fixture.session() });
    const again = [...transcript, said, { ...answer(two), messageId: "u3" }];
    expect((await fixture.agent.run(again, { session: fixture.session() })).text).toBe("both done");
    expect(ran).toEqual(["pay {}", "wire {}"]);
  });

  it("may come to a process that has loaded before another one stored a part: the first answer counts", async () => {
    const { tools, ran } = bank();
    const loaded = gate();
    const goOn = gate();
    const first = open([TWO], { tools, ...PER_CALL });
    const { approvalRequests } = await first.agent.run("go", { session: first.session() });
    const waits = {
      sourceId: "waits",
      beforeRun: async () => {
        loaded.open();
        await goOn.passed;
      },
    };
    const slow = reopen(first, ["never"], { tools, ...PER_CALL, contextProviders: [waits] });
    const race = failureOf(slow.agent.run(answer(approvalRequests), { session: slow.session() }));
    await loaded.passed;
    const quick = reopen(first, [], { tools, ...PER_CALL });
    await quick.agent.run(answer(approvalRequests.slice(0, 1), false), { session: quick.session() });
    goOn.open();
    expect(await race).toMatchObject({ code: "conflict" });
    const third = reopen(first, ["done"], { tools, ...PER_CALL });
    await third.agent.run(answer(approvalRequests), { session: third.session() });
    expect(ran).toEqual(["wire {}"]);
  });

  it("that contradict each other from two processes are told to the one that came second", async () => {
    const { tools, ran } = bank();
    const first = open([TWO], { tools, ...PER_CALL });
    const { approvalRequests } = await first.agent.run("go", { session: first.session() });
    const both = gate();
    let loaded = 0;
    const waits = {
      sourceId: "waits",
      beforeRun: async () => {
        loaded += 1;
        if (loaded === 2) {
          both.open();
        }
        await both.passed;
      },
    };
    const ended = await Promise.allSettled(
      [true, false].map((approved) => {
        const process = reopen(first, [], { tools, ...PER_CALL, contextProviders: [waits] });
        return process.agent.run(answer(approvalRequests.slice(0, 1), approved), { session: process.session() });
      }),
    );
    expect(ended.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(ended.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "conflict" } });
    expect(ran).toEqual([]);
  });
});

describe("An answer whose run cannot store what comes with it", () => {
  it("stays to be given", async () => {
    const { tools, ran } = bank();
    const fixture = open([[call("1", "pay")], "paid"], { tools, ...PER_CALL });
    const { approvalRequests } = await fixture.agent.run("go", { session: fixture.session() });
    fixture.store.before = ({ records }) => {
      if (records.some(({ data }) => data.includes("too long"))) {
        throw new AgentFrameworkError("too_large", "above the limit");
      }
    };
    const both = [answer(approvalRequests), "too long"];
    expect(await failureOf(fixture.agent.run(both, { session: fixture.session() }))).toMatchObject({
      code: "too_large",
    });
    expect((await fixture.agent.run(answer(approvalRequests), { session: fixture.session() })).text).toBe("paid");
    expect(ran).toEqual(["pay {}"]);
  });

  it("counts in a message of the assistant too, where some interfaces keep it", async () => {
    const { tools, ran } = bank();
    const fixture = open([[call("1", "pay")], "paid"], { tools, ...PER_CALL });
    const { approvalRequests } = await fixture.agent.run("go", { session: fixture.session() });
    const kept = { ...answer(approvalRequests), role: "assistant" as const };
    await fixture.agent.run([kept, "hello"], { session: fixture.session() });
    expect(ran).toEqual(["pay {}"]);
  });
});

describe("A run that answers, and is tried again under its name", () => {
  it.each(MODES)("stores its answer once (%s)", async (historyPersistence) => {
    const { tools, ran } = bank();
    const fixture = open([[call("1", "pay")], "paid"], { tools, historyPersistence });
    const { approvalRequests } = await fixture.agent.run("go", { session: fixture.session(), runId: "a" });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await fixture.agent.run(answer(approvalRequests), { session: fixture.session(), runId: "b" });
    }
    expect(ran).toHaveLength(1);
    expect((await fixture.stored()).map(({ messageId }) => messageId)).toEqual([
      "a:i0",
      "a:o0",
      "a:o0/1/#answer",
      "a:o0/1",
      "b:o0",
    ]);
  });

  it("goes on when its process died in a later call of the run", async () => {
    const { ran, tools } = bank();
    const started = gate();
    const hang: Tool = {
      name: "hang",
      parameters: { type: "object" },
      execute: () => {
        started.open();
        return new Promise(() => undefined);
      },
    };
    const options = { tools: [...tools, hang], ...PER_CALL };
    const first = open([[call("1", "pay")], [call("2", "hang")]], options);
    const { approvalRequests } = await first.agent.run("go", { session: first.session() });
    first.agent.run(answer(approvalRequests), { session: first.session(), runId: "r" }).catch(() => undefined);
    await started.passed;
    const second = reopen(first, ["it hung"], options);
    const response = await second.agent.run(answer(approvalRequests), { session: second.session(), runId: "r" });
    expect(response.text).toBe("it hung");
    expect(ran).toEqual(["pay {}"]);
  });

  it("goes on when its reader left in the middle of the text", async () => {
    const { tools, ran } = bank();
    const options = { tools, ...PER_CALL, history: { keepPartial: true } };
    const first = open([[call("1", "pay")], { pieces: ["Paid, ", "never read"] }], options);
    const { approvalRequests } = await first.agent.run("go", { session: first.session() });
    const stream = first.agent.runStream(answer(approvalRequests), { session: first.session(), runId: "r" });
    for await (const { text } of stream) {
      if (text === "Paid, ") {
        break;
      }
    }
    const second = reopen(first, ["Paid, all of it."], options);
    const response = await second.agent.run(answer(approvalRequests), { session: second.session(), runId: "r" });
    expect(response.text).toContain("Paid, all of it.");
    expect(ran).toHaveLength(1);
  });

  it.each(MODES)("asks no model when middleware ended it (%s)", async (historyPersistence) => {
    const { tools, ran } = bank();
    const end = functionMiddleware((invocation, next) => {
      invocation.terminate();
      return next();
    });
    const fixture = open([[call("1", "pay")]], { tools, middleware: [end], historyPersistence });
    const { approvalRequests } = await fixture.agent.run("go", { session: fixture.session() });
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await fixture.agent.run(answer(approvalRequests), { session: fixture.session(), runId: "r" });
    }
    expect(fixture.client.calls).toHaveLength(1);
    expect(ran).toHaveLength(1);
  });
});

describe("An answering run that is given up and keeps what there is", () => {
  it("keeps the results of approved calls, whose call is older than the run", async () => {
    const { tools, ran } = bank();
    const options = { tools, history: { keepPartial: true } };
    const first = open([[call("1", "pay")], { pieces: ["Paid, ", "never read"] }], options);
    const { approvalRequests } = await first.agent.run("go", { session: first.session() });
    for await (const { text } of first.agent.runStream(answer(approvalRequests), { session: first.session() })) {
      if (text === "Paid, ") {
        break;
      }
    }
    expect(shape(await first.stored()).slice(2)).toEqual([
      "user: function_approval_response",
      'tool: result 1 "pay done"',
      "assistant: Paid, ",
    ]);
    const second = reopen(first, ["go on"], options);
    await second.agent.run(answer(approvalRequests), { session: second.session() });
    expect(ran).toHaveLength(1);
  });
});

describe("A second store beside the history", () => {
  it("that is slow has every result in the end, also of a run that fails", async () => {
    const audit = new TestStore();
    audit.before = () => new Promise((resolve) => setTimeout(resolve, 20));
    const { HistoryProvider } = await import("@agentfw/core");
    const waits = (name: string, milliseconds: number): Tool => ({
      name,
      parameters: { type: "object" },
      execute: () => new Promise((resolve) => setTimeout(() => resolve(name), milliseconds)),
    });
    const tools = [waits("a", 0), waits("b", 25), waits("c", 35)];
    const calls = tools.map(({ name }) => call(name, name));
    const fixture = open([calls, { pieces: [], throws: new Error("model is down") }], {
      tools,
      ...PER_CALL,
      contextProviders: [new HistoryProvider(audit, { sourceId: "audit", load: false })],
    });
    await failureOf(fixture.agent.run("go", { session: fixture.session() }));
    const stored = await audit.data.read({ owner: "ann", source: "audit", session: "s" });
    expect(stored.records).toHaveLength((await fixture.stored()).length);
  });
});
