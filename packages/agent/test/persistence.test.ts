import { AgentFrameworkError, type ContextProvider, type Message, type Tool } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { type Fixture, failureOf, gate, open, reopen, settled } from "./fixture.ts";
import { type Answer, call, shape } from "./scripted-client.ts";

const down: Answer = { pieces: [], throws: new RangeError("model is down") };
const SCRIPT: readonly Answer[] = [[call("1", "first")], [call("2", "second")], "done"];

/** Tools that write down when they run. */
function counted(): { tools: Tool[]; ran: string[] } {
  const ran: string[] = [];
  const tools = ["first", "second"].map((name) => ({
    name,
    parameters: { type: "object" },
    execute: () => {
      ran.push(name);
      return name;
    },
  }));
  return { tools, ran };
}

async function run(fixture: Fixture, isStreamed: boolean, input = "go", runId?: string): Promise<void> {
  const options = { session: fixture.session(), ...(runId === undefined ? {} : { runId }) };
  if (isStreamed) {
    for await (const _ of fixture.agent.runStream(input, options)) {
      // Reading is what makes it go on.
    }
  } else {
    await fixture.agent.run(input, options);
  }
}

function withoutTimes(messages: readonly Message[]): unknown[] {
  return messages.map(({ createdAt: _, ...message }) => message);
}

const MODES = (["per-run", "per-service-call"] as const).flatMap((historyPersistence) =>
  [false, true].map((isStreamed) => ({ historyPersistence, isStreamed })),
);

describe("A run with two tool rounds", () => {
  it.each(MODES)("stores and sends the same $historyPersistence, streamed: $isStreamed", async (mode) => {
    const { tools } = counted();
    const fixture = open(SCRIPT, { tools, historyPersistence: mode.historyPersistence });
    await run(fixture, mode.isStreamed, "go", "r");
    expect(shape(await fixture.stored())).toEqual([
      "user: go",
      "assistant: call 1 first {}",
      'tool: result 1 "first"',
      "assistant: call 2 second {}",
      'tool: result 2 "second"',
      "assistant: done",
    ]);
    expect(fixture.client.calls.map(({ messages }) => messages.length)).toEqual([1, 3, 5]);
    const other = open(SCRIPT, { tools: counted().tools });
    await run(other, false, "go", "r");
    expect(withoutTimes(await fixture.stored())).toEqual(withoutTimes(await other.stored()));
  });

  it.each(MODES)(
    "leaves what its mode promises when the third call fails: $historyPersistence, $isStreamed",
    async (mode) => {
      const { tools, ran } = counted();
      const { historyPersistence } = mode;
      const first = open([...SCRIPT.slice(0, 2), down], { tools, historyPersistence });
      expect(await failureOf(run(first, mode.isStreamed, "go", "r"))).toBeInstanceOf(RangeError);
      const left = await first.stored();
      expect(left).toHaveLength(historyPersistence === "per-run" ? 0 : 5);

      const second = reopen(first, historyPersistence === "per-run" ? SCRIPT : ["done"], { tools, historyPersistence });
      await run(second, mode.isStreamed, "go", "r");
      expect(ran).toHaveLength(historyPersistence === "per-run" ? 4 : 2);
      expect(second.client.calls.at(-1)?.messages).toHaveLength(5);
      expect(shape(await second.stored())).toHaveLength(6);
      expect((await second.stored()).slice(0, left.length)).toEqual(left);
      expect(second.diagnostics).toEqual([]);
    },
  );

  it("goes on with another question after a failure, and runs no tool of the failed run again", async () => {
    const { tools, ran } = counted();
    const first = open([...SCRIPT.slice(0, 2), down], { tools, historyPersistence: "per-service-call" });
    await failureOf(run(first, false));
    const second = reopen(first, ["both are done"], { tools, historyPersistence: "per-service-call" });
    await run(second, false, "how far are you?");
    expect(ran).toEqual(["first", "second"]);
    expect(shape(second.client.calls[0]?.messages ?? []).at(-1)).toBe("user: how far are you?");
    expect(second.client.calls[0]?.messages).toHaveLength(6);
  });

  it("shows the model what providers add in every one of its calls, in the same place in both modes", async () => {
    const facts: ContextProvider = { sourceId: "facts", beforeRun: async (context) => context.addMessages("a fact") };
    const seen: string[][][] = [];
    for (const historyPersistence of ["per-run", "per-service-call"] as const) {
      const fixture = open(["before", ...SCRIPT], {
        tools: counted().tools,
        historyPersistence,
        contextProviders: [facts],
      });
      await run(fixture, false, "hello");
      await run(fixture, false);
      seen.push(fixture.client.calls.slice(1).map(({ messages }) => shape(messages)));
      expect(shape(await fixture.stored())).not.toContain("user: a fact");
    }
    expect(seen[0]?.map((messages) => messages[2])).toEqual(Array(3).fill("user: a fact"));
    expect(seen[1]).toEqual(seen[0]);
  });

  it("keeps call and result when function middleware ends it, in both modes", async () => {
    for (const historyPersistence of ["per-run", "per-service-call"] as const) {
      const fixture = open(SCRIPT, {
        tools: counted().tools,
        historyPersistence,
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
      await run(fixture, false);
      expect(fixture.client.calls).toHaveLength(1);
      expect(shape(await fixture.stored())).toEqual([
        "user: go",
        "assistant: call 1 first {}",
        'tool: result 1 "first"',
      ]);
    }
  });
});

describe("Storing call by call", () => {
  it("stores a call before its tools start, and each result as it is there", async () => {
    const slow = gate();
    const beforeSlow = gate();
    const stored: string[][] = [];
    const tools: Tool[] = [
      {
        name: "slow",
        parameters: { type: "object" },
        execute: async () => {
          stored.push(shape(await fixture.stored()));
          beforeSlow.open();
          await slow.passed;
          return "s";
        },
      },
      { name: "fast", parameters: { type: "object" }, execute: () => "f" },
    ];
    const fixture = open([[call("1", "slow"), call("2", "fast")], "done"], {
      tools,
      historyPersistence: "per-service-call",
    });
    const running = run(fixture, false);
    await beforeSlow.passed;
    await settled();
    stored.push(shape(await fixture.stored()));
    slow.open();
    await running;
    const [begun, halfway] = stored;
    expect(begun?.slice(0, 2)).toEqual(["user: go", "assistant: call 1 slow {} | call 2 fast {}"]);
    expect(halfway).toEqual([...(begun ?? []).slice(0, 2), 'tool: result 2 "f"']);
    // Stored as they came, and loaded in the order of the calls.
    const next = reopen(fixture, ["more"], { tools });
    await run(next, false, "again");
    expect(shape(next.client.calls[0]?.messages ?? []).slice(2, 4)).toEqual([
      'tool: result 1 "s"',
      'tool: result 2 "f"',
    ]);
  });

  it("runs no tool when the call cannot be stored", async () => {
    const { tools, ran } = counted();
    const fixture = open(SCRIPT, { tools, historyPersistence: "per-service-call" });
    fixture.store.before = ({ name }) => {
      if (name === "append") {
        throw new AgentFrameworkError("unavailable", "read only");
      }
    };
    expect(await failureOf(run(fixture, false))).toMatchObject({ code: "unavailable" });
    expect(ran).toEqual([]);
    fixture.store.before = undefined;
    expect(await fixture.stored()).toEqual([]);
  });

  it("stores what parallel tools answer although the first one to end could not be stored", async () => {
    const late = gate();
    const tools: Tool[] = [
      { name: "quick", parameters: { type: "object" }, execute: () => "q" },
      {
        name: "late",
        parameters: { type: "object" },
        execute: async () => {
          await late.passed;
          return "l";
        },
      },
    ];
    const fixture = open([[call("1", "quick"), call("2", "late")], "done"], {
      tools,
      historyPersistence: "per-service-call",
    });
    let appends = 0;
    fixture.store.before = ({ name }) => {
      appends += name === "append" ? 1 : 0;
      if (appends === 2) {
        throw new Error("for a moment");
      }
    };
    const failed = failureOf(run(fixture, false, "go", "r"));
    await settled();
    late.open();
    await failed;
    await settled();
    const next = reopen(fixture, ["fine"], { tools, historyPersistence: "per-service-call" });
    await run(next, false, "go", "r");
    const results = shape(next.client.calls[0]?.messages ?? []).filter((line) => line.startsWith("tool"));
    expect(results).toHaveLength(2);
    expect(results.join()).not.toContain("undefined");
  });

  it("keeps one result when the process that was given up for dead finishes its tool after all", async () => {
    const slow = gate();
    const started = gate();
    let runs = 0;
    const tool: Tool = {
      name: "slow",
      parameters: { type: "object" },
      execute: async () => {
        runs += 1;
        started.open();
        await slow.passed;
        return "late";
      },
    };
    const options = { tools: [tool], historyPersistence: "per-service-call" as const };
    const first = open([[call("1", "slow")], "done late"], options);
    const running = failureOf(run(first, false, "go", "r"));
    await started.passed;
    const second = reopen(first, ["unclear"], options);
    await run(second, false, "go", "r");
    slow.open();
    // Its answer is not the one that is stored, and it is told so.
    expect(await running).toMatchObject({ code: "conflict", response: { text: "done late" } });
    expect(runs).toBe(1);
    const stored = await second.stored();
    expect(new Set(stored.map(({ messageId }) => messageId)).size).toBe(stored.length);
    expect(shape(stored).filter((line) => line.startsWith("tool"))).toHaveLength(1);
    const third = reopen(second, ["ok"], options);
    await run(third, false, "and now?");
    expect(third.diagnostics).toEqual([]);
  });

  it.each([undefined, "mine"])(
    "takes a run up again with all that it was asked and did, however small the window (input id: %s)",
    async (messageId) => {
      const { tools, ran } = counted();
      const rounds = [1, 2, 3, 4, 5].flatMap((round): Answer[] => [
        [call(`a${round}`, "first"), call(`b${round}`, "second")],
      ]);
      const options = { tools, historyPersistence: "per-service-call" as const, history: { maxMessages: 2 } };
      const input = { role: "user" as const, contents: "go", messageId };
      const first = open(["hi", ...rounds, down], options);
      await first.agent.run("hello", { session: first.session() });
      await failureOf(first.agent.run(input, { session: first.session(), runId: "r" }));
      const second = reopen(first, ["done", "bye"], options);
      const response = await second.agent.run(input, { session: second.session(), runId: "r" });
      expect(ran).toHaveLength(10);
      expect(shape(second.client.calls[0]?.messages ?? []).slice(0, 2)).toEqual([
        "user: go",
        "assistant: call a1 first {} | call b1 second {}",
      ]);
      expect(second.client.calls[0]?.messages).toHaveLength(16);
      expect(response.messages).toHaveLength(16);
      expect(await second.stored()).toHaveLength(2 + 17);
      await second.agent.run("thanks", { session: second.session() });
      expect(second.client.calls[1]?.messages.length).toBeLessThanOrEqual(4);
    },
  );
});
