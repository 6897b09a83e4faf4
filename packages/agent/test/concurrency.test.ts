import { AgentSession, HistoryProvider, InMemoryHistoryProvider, InMemoryHistoryStore } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { Agent, type AgentOptions } from "../src/index.ts";
import { failureOf, gate, open, settled, storedMessages, TestStore } from "./fixture.ts";
import { type Answer, call, ScriptedClient, shape } from "./scripted-client.ts";

/** A model that takes a moment and repeats what it was asked. */
const slowEcho: Answer = async function* (messages) {
  const last = messages.findLast(({ role }) => role === "user")?.contents[0];
  const text = last?.type === "text" ? last.text : "";
  await settled();
  yield { contents: [{ type: "text", text: `re ${text}` }] };
};

function times<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

/** The turns 0 to n-1 as they must be stored when none is torn apart. */
function turns(numbers: readonly number[]): string[] {
  return numbers.flatMap((number) => [`user: ${number}`, `assistant: re ${number}`]);
}

const numbers = Array.from({ length: 20 }, (_, index) => index);

describe("Runs at once on one conversation", () => {
  it("go one after another in the order in which they came", async () => {
    const { agent, session, stored, client } = open(times(20, slowEcho));
    const one = session();
    await Promise.all(numbers.map((number) => agent.run(String(number), { session: one })));
    expect(shape(await stored())).toEqual(turns(numbers));
    expect(client.calls.map(({ messages }) => messages.length)).toEqual(numbers.map((number) => 2 * number + 1));
  });

  it("go one after another across session objects and agents that were made for a request", async () => {
    const store = new TestStore();
    store.before = () => settled();
    const first = open(times(10, slowEcho), { store });
    const second = open(times(10, slowEcho), { store });
    const json = JSON.stringify(first.session());
    await Promise.all(
      numbers.map((number) =>
        (number % 2 === 0 ? first : second).agent.run(String(number), {
          session: AgentSession.fromJSON(json, { owner: "ann" }),
        }),
      ),
    );
    expect(shape(await storedMessages(store))).toEqual(turns(numbers));
  });

  it("go one after another when the session itself holds the history", async () => {
    const client = new ScriptedClient(times(20, slowEcho));
    const agent = new Agent({ client });
    const session = agent.createSession();
    await Promise.all(numbers.map((number) => agent.run(String(number), { session })));
    const messages = await agent.getProvider(InMemoryHistoryProvider)?.getMessages(session);
    expect(shape(messages ?? [])).toEqual(turns(numbers));
  });

  it("keep tool calls and results of one run together", async () => {
    const look = { name: "look", parameters: { type: "object" }, execute: () => settled() };
    const script: Answer[] = [0, 1, 2].flatMap((number): Answer[] => [[call(`c${number}`, "look")], slowEcho]);
    const { agent, session, stored } = open(script, { tools: [look] });
    await Promise.all([0, 1, 2].map((number) => agent.run(String(number), { session: session() })));
    expect(shape(await stored())).toEqual(
      [0, 1, 2].flatMap((number) => [
        `user: ${number}`,
        `assistant: call c${number} look {}`,
        `tool: result c${number} null`,
        `assistant: re ${number}`,
      ]),
    );
  });

  it("do not hold up other conversations, another owner's of the same name among them", async () => {
    const stuck = gate();
    const waiting: Answer = async function* () {
      await stuck.passed;
      yield { contents: [{ type: "text", text: "at last" }] };
    };
    const { agent, session } = open([waiting, "bob's", "other"]);
    const first = agent.run("a", { session: session() });
    await settled();
    const bob = agent.createSession({ sessionId: "s", owner: "bob" });
    expect((await agent.run("b", { session: bob })).text).toBe("bob's");
    const other = agent.createSession({ sessionId: "t", owner: "ann" });
    expect((await agent.run("c", { session: other })).text).toBe("other");
    stuck.open();
    expect((await first).text).toBe("at last");
  });

  it("let the next one in when one fails, is aborted or is left", async () => {
    const controller = new AbortController();
    const stuck: Answer = async function* () {
      yield await new Promise<never>(() => undefined);
    };
    const { agent, session, stored } = open([
      { pieces: [], throws: new Error("model") },
      stuck,
      { pieces: ["a", "b"] },
      "fine",
    ]);
    const failed = failureOf(agent.run("1", { session: session() }));
    const aborted = failureOf(agent.run("2", { session: session(), signal: controller.signal }));
    const left = (async () => {
      for await (const _ of agent.runStream("3", { session: session() })) {
        return;
      }
    })();
    const last = agent.run("4", { session: session() });
    await failed;
    await settled();
    controller.abort();
    await aborted;
    await left;
    expect((await last).text).toBe("fine");
    expect(shape(await stored())).toEqual(["user: 4", "assistant: fine"]);
  });

  it("share no signal that would gather the listeners of all of them", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    const signals = new Set<AbortSignal>();
    const listening = {
      name: "listening",
      parameters: { type: "object" },
      execute: (_: unknown, { signal }: { signal: AbortSignal }) => {
        signal.addEventListener("abort", () => undefined);
        signals.add(signal);
        return settled();
      },
    };
    const sessions = numbers.map((number) => ({ sessionId: String(number), owner: "ann" }));
    const script = [...times(20, [call("1", "listening")]), ...times(20, slowEcho)];
    const { agent, client } = open(script, { tools: [listening], history: { maxMessages: 5 } });
    await Promise.all(sessions.map((options) => agent.run("x", { session: agent.createSession(options) })));
    await settled();
    process.off("warning", note);
    expect(warnings).toEqual([]);
    expect(signals.size).toBe(20);
    expect(client.calls.every(({ options }) => !("signal" in options))).toBe(true);
  });

  it("are never queued without a session", async () => {
    const both = gate();
    let inside = 0;
    const meeting: Answer = async function* () {
      inside += 1;
      if (inside === 2) {
        both.open();
      }
      await both.passed;
      yield { contents: [{ type: "text", text: "met" }] };
    };
    const { agent } = open([meeting, meeting]);
    await Promise.all([agent.run("a"), agent.run("b")]);
  });
});

describe("A run that has to wait", () => {
  /** A conversation that a run holds until the gate opens. */
  async function held(options: Partial<AgentOptions>) {
    const stuck = gate();
    const waiting: Answer = async function* () {
      await stuck.passed;
      yield { contents: [{ type: "text", text: "first" }] };
    };
    const fixture = open([waiting, "second"], options);
    const first = fixture.agent.run("a", { session: fixture.session() });
    await settled();
    return { ...fixture, first, stuck };
  }

  it("is refused with a conflict where the agent says so, and works afterwards", async () => {
    const { agent, session, client, first, stuck } = await held({ concurrency: "reject" });
    expect(await failureOf(agent.run("b", { session: session() }))).toMatchObject({
      code: "conflict",
      retryable: true,
    });
    expect(client.calls).toHaveLength(1);
    stuck.open();
    await first;
    expect((await agent.run("b", { session: session() })).text).toBe("second");
  });

  it("gives up with a timeout, and the run in front is not disturbed", async () => {
    const { agent, session, first, stuck, stored } = await held({ queueTimeoutMs: 60 });
    expect(await failureOf(agent.run("b", { session: session() }))).toMatchObject({ code: "timeout" });
    stuck.open();
    expect((await first).text).toBe("first");
    expect(await stored()).toHaveLength(2);
  });

  it("gives up with its abort reason, and leaves no gap in the queue", async () => {
    const { agent, session, first, stuck } = await held({});
    const controller = new AbortController();
    const given = failureOf(agent.run("b", { session: session(), signal: controller.signal }));
    const third = agent.run("c", { session: session() });
    controller.abort(new Error("changed my mind"));
    expect(await given).toMatchObject({ message: "changed my mind" });
    stuck.open();
    await first;
    expect((await third).text).toBe("second");
  });

  it("gets the place of a stream that nobody reads, which then ends with a conflict and stores nothing", async () => {
    const { agent, session, stored, diagnostics } = open([{ pieces: ["a", "b", "c"] }, "second"], {
      queueTimeoutMs: 90,
    });
    const iterator = agent.runStream("1", { session: session() })[Symbol.asyncIterator]();
    await iterator.next();
    expect((await agent.run("2", { session: session() })).text).toBe("second");
    expect(await failureOf(iterator.next())).toMatchObject({ code: "conflict" });
    expect(shape(await stored())).toEqual(["user: 2", "assistant: second"]);
    expect(diagnostics.map(({ type }) => type)).toContain("stream_gave_way");
  });

  it("gets that place also where runs are refused rather than queued", async () => {
    const { agent, session } = open([{ pieces: ["a", "b", "c"] }, "second"], {
      concurrency: "reject",
      queueTimeoutMs: 900,
    });
    const iterator = agent.runStream("1", { session: session() })[Symbol.asyncIterator]();
    await iterator.next();
    expect(await failureOf(agent.run("2", { session: session() }))).toMatchObject({ code: "conflict" });
    await new Promise((resolve) => setTimeout(resolve, 350));
    expect((await agent.run("2", { session: session() })).text).toBe("second");
    expect(await failureOf(iterator.next())).toMatchObject({ code: "conflict" });
  });

  it("waits for a stream that is read slowly but is read", async () => {
    const { agent, session, stored } = open([{ pieces: ["a", "b", "c", "d"] }, "second"], { queueTimeoutMs: 3000 });
    const reading = (async () => {
      for await (const _ of agent.runStream("1", { session: session() })) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    await settled();
    await agent.run("2", { session: session() });
    await reading;
    expect(shape(await stored())).toEqual(["user: 1", "assistant: abcd", "user: 2", "assistant: second"]);
  });
});

describe("Writers in several processes", () => {
  it("leave each turn whole, and one of them gets a conflict where the history asks for that", async () => {
    const data = new InMemoryHistoryStore();
    const start = (conditionalAppend: boolean) => {
      const client = new ScriptedClient([slowEcho, slowEcho]);
      const store = new TestStore(data);
      const agent = new Agent({ client, contextProviders: [new HistoryProvider(store, { conditionalAppend })] });
      return { agent, session: agent.createSession({ sessionId: "s", owner: "ann" }), store };
    };
    const [left, right] = [start(true), start(true)];
    const outcomes = await Promise.allSettled([
      left.agent.run("1", { session: left.session }),
      right.agent.run("2", { session: right.session }),
    ]);
    const failed = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(failed).toMatchObject([{ reason: { code: "conflict", response: { text: expect.stringContaining("re") } } }]);
    const loser = outcomes[0]?.status === "rejected" ? left : right;
    await loser.agent.run("3", { session: loser.session });
    expect(await storedMessages(loser.store)).toHaveLength(4);
  });
});
