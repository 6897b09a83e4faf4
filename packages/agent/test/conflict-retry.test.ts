import {
  AgentFrameworkError,
  type ContextProvider,
  HistoryProvider,
  type HistoryProviderOptions,
  InMemoryHistoryStore,
  openConversation,
  type RunContext,
} from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { Agent, agentMiddleware } from "../src/index.ts";
import { type Fixture, type FixtureOptions, failureOf, open, reopen, TestStore } from "./fixture.ts";
import { type Answer, call, ScriptedClient, shape } from "./scripted-client.ts";
import { expectNoUnheardRejections } from "./streaming.ts";

expectNoUnheardRejections();

const MODES = ["per-run", "per-service-call"] as const;
const HISTORY = { conditionalAppend: true } as const;

/** A process whose model is overtaken: for each answer in `overtaken`, somebody else stores a turn first. */
function overtaken(script: readonly Answer[], turns: number, options: FixtureOptions = {}): Fixture {
  const store = options.store ?? new TestStore();
  let left = turns;
  store.before = async ({ name }) => {
    if (name === "append" && left > 0) {
      left -= 1;
      await otherTurn(store, `other ${turns - left}`);
    }
  };
  return open(script, { onConflict: "retry", ...options, store, history: { ...HISTORY, ...options.history } });
}

async function otherTurn(store: TestStore, text: string): Promise<void> {
  await openConversation(store.data, { owner: "ann", sessionId: "s" }).append([
    { role: "user", contents: text },
    { role: "assistant", contents: `re ${text}` },
  ]);
}

/** A tool that counts how often it ran. */
function counted() {
  const ran: string[] = [];
  const look = {
    name: "look",
    parameters: { type: "object" },
    execute: () => {
      ran.push("look");
      return "seen";
    },
  };
  return { ran, tools: [look] };
}

describe("A run that another process overtakes", () => {
  it.each(MODES)("is a conflict with the response, and the model is asked once, by default (%s)", async (mode) => {
    const { agent, session, client, stored } = overtaken(["mine", "never"], 1, {
      onConflict: undefined,
      historyPersistence: mode,
    });
    const error = await failureOf(agent.run("x", { session: session() }));
    expect(error).toMatchObject({ code: "conflict", response: { text: "mine" } });
    expect(client.calls).toHaveLength(1);
    expect(shape(await stored())).toEqual(["user: other 1", "assistant: re other 1"]);
  });

  it.each(MODES)("asks the model again with what the other one said, where retry is chosen (%s)", async (mode) => {
    const fixture = overtaken(["mine", "mine again"], 1, { historyPersistence: mode });
    const { agent, session, client, stored, diagnostics } = fixture;
    const response = await agent.run("x", { session: session() });
    expect(response.messages).toHaveLength(1);
    expect(response.text).toBe("mine again");
    expect(client.calls.map(({ messages }) => messages.length)).toEqual([1, 3]);
    expect(diagnostics).toMatchObject([{ type: "run_retried", provider: "history", cause: { code: "conflict" } }]);
    expect(shape(await stored())).toEqual([
      "user: other 1",
      "assistant: re other 1",
      "user: x",
      "assistant: mine again",
    ]);
  });

  it("may choose for itself, whatever the agent's option says", async () => {
    const patient = overtaken(["a", "b"], 1, { onConflict: "error" });
    expect((await patient.agent.run("x", { session: patient.session(), onConflict: "retry" })).text).toBe("b");
    const hasty = overtaken(["a", "b"], 1);
    const run = hasty.agent.run("x", { session: hasty.session(), onConflict: "error" });
    expect(await failureOf(run)).toMatchObject({ code: "conflict" });
  });

  it("ends after three attempts with a conflict that carries the last response", async () => {
    const { agent, session, client, stored } = overtaken(["1", "2", "3", "never"], 9);
    const error = await failureOf(agent.run("x", { session: session() }));
    expect(error).toMatchObject({ code: "conflict", retryable: true, response: { text: "3" } });
    expect((error as AgentFrameworkError).message).toContain("3 times");
    expect(client.calls).toHaveLength(3);
    expect(await stored()).toHaveLength(6);
  });

  it("is told to a second store once, with the answer that counts", async () => {
    const audit = new TestStore();
    for (const historyPersistence of MODES) {
      const provider = new HistoryProvider(audit, { sourceId: historyPersistence, load: false });
      const { agent, session } = overtaken(["mine", "mine again"], 1, {
        historyPersistence,
        contextProviders: [provider],
      });
      await agent.run("x", { session: session() });
      expect(shape(await provider.getMessages(session()))).toEqual(["user: x", "assistant: mine again"]);
    }
  });

  it("gives a middleware around the run one answer", async () => {
    const seen: string[] = [];
    const watch = agentMiddleware(async function* (_, next) {
      for await (const update of next()) {
        seen.push(update.text);
        yield update;
      }
    });
    const { agent, session } = overtaken(["mine", "mine again"], 1, { middleware: [watch] });
    expect((await agent.run("x", { session: session() })).text).toBe("mine again");
    expect(seen).toEqual(["mine again"]);
  });

  it("gives up at once when it is aborted while it waits for the next attempt", async () => {
    const controller = new AbortController();
    const outcomes: unknown[] = [];
    const watch = { sourceId: "watch", afterRun: async ({ error }: RunContext) => void outcomes.push(error) };
    const { agent, session, client, store, stored } = overtaken(["mine", "never"], 1, { contextProviders: [watch] });
    const before = store.before;
    store.before = async (entry) => {
      await before?.(entry);
      if (entry.name === "append") {
        controller.abort(new Error("enough"));
      }
    };
    const run = agent.run("x", { session: session(), signal: controller.signal });
    expect(await failureOf(run)).toMatchObject({ message: "enough" });
    expect(outcomes).toEqual([controller.signal.reason]);
    expect(client.calls).toHaveLength(1);
    expect(await stored()).toHaveLength(2);
  });

  it("says that the store is away when it is away by then, and still carries the response", async () => {
    const { agent, session, store } = overtaken(["mine", "never"], 1);
    const before = store.before;
    let reads = 0;
    store.before = async (entry) => {
      reads += entry.name === "read" ? 1 : 0;
      if (reads === 2) {
        throw new Error("away");
      }
      await before?.(entry);
    };
    const error = await failureOf(agent.run("x", { session: session() }));
    expect(error).toMatchObject({ code: "unavailable", response: { text: "mine" } });
  });
});

describe("An answer to a history that is unchanged where the run has seen it", () => {
  /** Somebody replaces old messages by a summary while the model thinks. */
  async function compacted(options: FixtureOptions, input: (fixture: Fixture) => Promise<unknown>) {
    const data = new InMemoryHistoryStore();
    const log = openConversation(data, { owner: "ann", sessionId: "s" });
    const texts = ["1", "2", "3", "4"];
    await log.append(texts.map((id) => ({ role: "user" as const, messageId: id, contents: id })));
    const store = new TestStore(data);
    let isDone = false;
    store.before = async ({ name, key }) => {
      if (name === "append" && !isDone) {
        isDone = true;
        const summary = {
          id: "sum",
          data: '{"role":"user","messageId":"sum","contents":[{"type":"text","text":"s"}]}',
        };
        await data.replace(key, { fromId: "1", throughId: "2" }, [summary]);
      }
    };
    const fixture = open([[call("c", "look")], "mine", "never"], {
      ...options,
      store,
      onConflict: "retry",
      history: { ...HISTORY, maxMessages: 2 },
    });
    await input(fixture);
    return fixture;
  }

  it.each(MODES)("is stored without another call of the model or of a tool, also streamed (%s)", async (mode) => {
    for (const isStreamed of [false, true]) {
      const { ran, tools } = counted();
      const fixture = await compacted({ tools, historyPersistence: mode }, async ({ agent, session }) => {
        const stream = agent.runStream("x", { session: session() });
        if (isStreamed) {
          for await (const _ of stream) {
            // Reads all of it.
          }
        }
        expect((await stream.finalResponse()).text).toBe("mine");
      });
      expect(ran).toHaveLength(1);
      expect(fixture.client.calls).toHaveLength(2);
      expect(fixture.diagnostics.map(({ type }) => type)).toEqual(["turn_stored_again"]);
      expect(shape(await fixture.stored())).toEqual([
        "user: s",
        "user: 3",
        "user: 4",
        "user: x",
        "assistant: call c look {}",
        'tool: result c "seen"',
        "assistant: mine",
      ]);
    }
  });
});

describe("A run that is overtaken and cannot be taken back", () => {
  it("is refused when a tool has run: the tool is not run again, and the error carries what there was", async () => {
    const { ran, tools } = counted();
    const { agent, session, client, stored } = overtaken([[call("c", "look")], "mine", "never"], 1, { tools });
    const error = await failureOf(agent.run("x", { session: session() }));
    expect(error).toMatchObject({ code: "conflict", response: { text: "mine" } });
    expect((error as AgentFrameworkError).message).toContain("a tool has run");
    expect(ran).toHaveLength(1);
    expect(client.calls).toHaveLength(2);
    expect(await stored()).toHaveLength(2);
  });

  it("asks again while no tool has run: call by call, the call is stored before its tool starts", async () => {
    const { ran, tools } = counted();
    const script: Answer[] = [[call("c", "look")], [call("d", "look")], "mine"];
    const fixture = overtaken(script, 1, { tools, historyPersistence: "per-service-call" });
    expect((await fixture.agent.run("x", { session: fixture.session() })).text).toBe("mine");
    expect(ran).toHaveLength(1);
    expect(shape(await fixture.stored()).slice(2)).toEqual([
      "user: x",
      "assistant: call d look {}",
      'tool: result d "seen"',
      "assistant: mine",
    ]);
  });

  it("is refused when a part of it is stored, and carries that part", async () => {
    const { ran, tools } = counted();
    const store = new TestStore();
    let appends = 0;
    store.before = async ({ name }) => {
      appends += name === "append" ? 1 : 0;
      if (name === "append" && appends === 2) {
        await otherTurn(store, "other");
      }
    };
    const { agent, session, stored, client } = open([[call("c", "look")], "never"], {
      store,
      tools,
      onConflict: "retry",
      history: HISTORY,
      historyPersistence: "per-service-call",
    });
    const error = await failureOf(agent.run("x", { session: session() }));
    expect(error).toMatchObject({ code: "conflict" });
    const { response, message } = error as AgentFrameworkError;
    expect(shape((response as { messages: [] }).messages)).toEqual(["assistant: call c look {}"]);
    expect(message).toContain("a part of it is stored");
    expect([ran.length, client.calls.length]).toEqual([1, 1]);
    expect(await stored()).toHaveLength(4);
  });

  it.each(MODES)("is refused when a reader has seen a piece of it (%s)", async (historyPersistence) => {
    const { agent, session, client } = overtaken(["mine", "never"], 1, { historyPersistence });
    const stream = agent.runStream("x", { session: session() });
    const texts: string[] = [];
    const error = await failureOf(
      (async () => {
        for await (const update of stream) {
          texts.push(update.text);
        }
      })(),
    );
    expect(error).toMatchObject({ code: "conflict", response: { text: "mine" } });
    expect((error as AgentFrameworkError).message).toContain("a reader has seen");
    expect(texts).toEqual(["mine"]);
    expect(client.calls).toHaveLength(1);
  });
});

describe("A loading provider of one's own", () => {
  it.each(MODES)("is told of the end of every load, also of one that a conflict made useless (%s)", async (mode) => {
    const log: string[] = [];
    let conflicts = 2;
    const store = async () => {
      conflicts -= 1;
      if (conflicts >= 0) {
        throw new AgentFrameworkError("conflict", "not now", { currentVersion: String(conflicts) });
      }
    };
    const begun = new Map<unknown, number>();
    const mine: ContextProvider = {
      sourceId: "mine",
      loadsHistory: true,
      beforeRun: async ({ run }) => {
        begun.set(run, 1);
      },
      persist: store,
      afterRun: async ({ run, error }) => {
        begun.set(run, (begun.get(run) ?? 0) - 1);
        log.push(error === undefined ? "stored" : "failed");
        await (error === undefined && mode === "per-run" ? store() : undefined);
      },
    };
    const { tools } = counted();
    const client = new ScriptedClient([[call("c", "look")], "mine"]);
    const agent = new Agent({
      client,
      tools,
      contextProviders: [mine],
      historyPersistence: mode,
      onConflict: "retry",
    });
    expect((await agent.run("x", { session: agent.createSession() })).text).toBe("mine");
    expect(client.calls).toHaveLength(2);
    expect([...begun.values()]).toEqual([0, 0, 0]);
    expect(log.at(-1)).toBe("stored");
  });

  it("cannot hold up an abort with a load that never ends", async () => {
    const controller = new AbortController();
    let loads = 0;
    const mine: ContextProvider = {
      sourceId: "mine",
      loadsHistory: true,
      beforeRun: async () => {
        loads += 1;
        if (loads === 2) {
          setTimeout(() => controller.abort(new Error("enough")), 5);
          await new Promise(() => undefined);
        }
      },
      afterRun: async ({ error }) => {
        if (error === undefined) {
          throw new AgentFrameworkError("conflict", "not now", { currentVersion: "1" });
        }
      },
    };
    const client = new ScriptedClient(["mine", "never"]);
    const agent = new Agent({ client, contextProviders: [mine], onConflict: "retry" });
    const run = agent.run("x", { session: agent.createSession(), signal: controller.signal });
    expect(await failureOf(run)).toMatchObject({ message: "enough" });
    expect([loads, client.calls.length]).toEqual([2, 1]);
  });
});

describe("A named run that two processes are asked for at once", () => {
  async function both(history: HistoryProviderOptions, script: readonly Answer[][]) {
    const { ran, tools } = counted();
    const winner = open(script[0] ?? [], { tools, history });
    const loser = reopen(winner, script[1] ?? [], { tools, history, onConflict: "retry" });
    loser.store.before = async ({ name }) => {
      if (name === "append") {
        loser.store.before = undefined;
        await winner.agent.run("x", { session: winner.session(), runId: "r" });
      }
    };
    const response = await loser.agent.run("x", { session: loser.session(), runId: "r" });
    return { text: response.text, ran, loser, stored: shape(await loser.stored()) };
  }

  it.each([HISTORY, {}])("gives both the answer that is stored (%j)", async (history) => {
    const { text, loser, stored } = await both(history, [["first"], ["second", "never"]]);
    expect(text).toBe("first");
    expect(loser.client.calls).toHaveLength(1);
    expect(stored).toEqual(["user: x", "assistant: first"]);
  });

  it("gives both the stored answer also when each has run its tools, and runs none after that", async () => {
    const { text, ran, loser, stored } = await both(HISTORY, [
      [[call("c", "look")], "first"],
      [[call("d", "look")], "second", "never"],
    ]);
    expect(text).toBe("first");
    expect([ran.length, loser.client.calls.length]).toEqual([2, 2]);
    expect(stored).toHaveLength(4);
  });
});

describe("The option", () => {
  it("is refused when it is none of the two, on the agent and on a run", async () => {
    const wrong = JSON.parse('{"onConflict":"again"}');
    expect(() => open([], wrong)).toThrow(/onConflict/);
    const { agent } = open([]);
    expect(await failureOf(agent.run("x", wrong))).toMatchObject({ code: "configuration" });
  });
});
