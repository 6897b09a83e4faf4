import { AgentFrameworkError, type ContextProvider, HistoryProvider, type MessageInput } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { Agent, AgentResponse, type AgentRunOptions } from "../src/index.ts";
import { type Fixture, type FixtureOptions, failureOf, gate, open, TestStore } from "./fixture.ts";
import { type Answer, call, ScriptedClient, shape } from "./scripted-client.ts";
import { expectNoUnheardRejections } from "./streaming.ts";

expectNoUnheardRejections();

const MODES = ["per-run", "per-service-call"] as const;
const WAYS = MODES.flatMap((historyPersistence) =>
  [false, true].map((isStreamed) => ({ historyPersistence, isStreamed })),
);

/** A conversation with one turn in it, whose store cannot be read until `back` is called. */
async function away(script: readonly Answer[], options: FixtureOptions = {}) {
  const fixture = open(["a0", ...script], { onLoadFailure: "continue", ...options });
  await fixture.agent.run("u0", { session: fixture.session() });
  fixture.store.calls.length = 0;
  fixture.store.before = ({ name }) => {
    if (name === "read") {
      throw new AgentFrameworkError("unavailable", "no connection");
    }
  };
  return { ...fixture, back: () => Object.assign(fixture.store, { before: undefined }) };
}

async function run(
  { agent, session }: Pick<Fixture, "agent" | "session">,
  isStreamed: boolean,
  input: string | MessageInput[] = "u1",
  options: AgentRunOptions = {},
): Promise<AgentResponse> {
  const stream = agent.runStream(input, { session: session(), ...options });
  if (isStreamed) {
    for await (const _ of stream) {
      // Reads all of it.
    }
  }
  return stream.finalResponse();
}

describe.each(WAYS)("A history that cannot be loaded ($historyPersistence, streamed: $isStreamed)", (way) => {
  const { historyPersistence, isStreamed } = way;

  it("ends the run before the model is called, and nothing is stored", async () => {
    const fixture = await away(["never"], { historyPersistence, onLoadFailure: undefined });
    expect(await failureOf(run(fixture, isStreamed))).toMatchObject({ code: "unavailable" });
    expect(fixture.client.calls).toHaveLength(1);
    expect(fixture.store.calls.map(({ name }) => name)).toEqual(["read"]);
  });

  it("is done without where the agent says so: the response tells, and nothing is stored", async () => {
    const look = { name: "look", parameters: { type: "object" }, execute: () => "seen" };
    const fixture = await away([[call("c", "look")], "a1"], { historyPersistence, tools: [look] });
    const response = await run(fixture, isStreamed);
    expect(response.text).toBe("a1");
    expect(response.historyError).toMatchObject({ code: "unavailable" });
    expect(shape(fixture.client.calls[1]?.messages ?? [])).toEqual(["user: u1"]);
    expect(fixture.store.calls.map(({ name }) => name)).toEqual(["read"]);
    expect(fixture.diagnostics.map(({ type }) => type)).toEqual(["history_not_loaded"]);
    fixture.back();
    expect(shape(await fixture.stored())).toEqual(["user: u0", "assistant: a0"]);
  });

  it("is loaded again by the next run, whose response has nothing to tell", async () => {
    const fixture = await away(["a1", "a2"], { historyPersistence });
    await run(fixture, isStreamed);
    fixture.back();
    const response = await run(fixture, isStreamed, "u2");
    expect(response.historyError).toBeUndefined();
    expect(shape(fixture.client.calls[2]?.messages ?? [])).toEqual(["user: u0", "assistant: a0", "user: u2"]);
  });
});

describe("A run that would go on without its history", () => {
  it("tells a reader in the first piece, before the model has said anything", async () => {
    const asked = gate();
    const slow: Answer = async function* () {
      await asked.passed;
      yield { contents: [{ type: "text", text: "a1" }] };
    };
    const { agent, session } = await away([slow]);
    const stream = agent.runStream("u1", { session: session() })[Symbol.asyncIterator]();
    const first = await stream.next();
    expect(first.value).toMatchObject({ text: "", historyError: { code: "unavailable" } });
    asked.open();
    expect((await stream.next()).value).toMatchObject({ text: "a1", historyError: { code: "unavailable" } });
    await stream.return?.();
  });

  it("says so also when the model answers nothing at all", async () => {
    const fixture = await away([{ pieces: [] }]);
    const response = await run(fixture, false);
    expect(response).toMatchObject({ messages: [], historyError: { code: "unavailable" } });
  });

  it("may choose for itself, whatever the agent's option says", async () => {
    const fixture = await away(["a1"]);
    const refused = run(fixture, false, "u1", { onLoadFailure: "error" });
    expect(await failureOf(refused)).toMatchObject({ code: "unavailable" });
    const other = await away(["a1"], { onLoadFailure: "error" });
    expect((await run(other, false, "u1", { onLoadFailure: "continue" })).text).toBe("a1");
  });

  it("goes on after a deadline too", async () => {
    const fixture = open(["a1"], { onLoadFailure: "continue", history: { timeoutMs: 20 } });
    fixture.store.before = () => new Promise(() => undefined);
    expect((await run(fixture, false)).historyError).toMatchObject({ code: "timeout" });
  });

  it("stores nothing of itself when it is given up, whatever is kept of other runs", async () => {
    const fixture = await away([{ pieces: ["a", "b"] }], { history: { keepPartial: true } });
    for await (const update of fixture.agent.runStream("u1", { session: fixture.session() })) {
      if (update.text === "a") {
        break;
      }
    }
    expect(fixture.store.calls.map(({ name }) => name)).toEqual(["read"]);
  });

  it("tells the loading provider that its run is over, and the others that it succeeded", async () => {
    const log: string[] = [];
    const watch = (sourceId: string, more: Partial<ContextProvider>): ContextProvider => ({
      sourceId,
      afterRun: async ({ error, response }) => {
        log.push(`${sourceId} ${error === undefined ? "" : "failed"}${response instanceof AgentResponse}`);
      },
      ...more,
    });
    const loading = watch("loading", {
      loadsHistory: true,
      beforeRun: async (context) => {
        context.addHistory([{ role: "user", messageId: "half", contents: [{ type: "text", text: "half" }] }]);
        throw new AgentFrameworkError("unavailable", "gone in between");
      },
    });
    const client = new ScriptedClient(["a1"]);
    const contextProviders = [loading, watch("other", {})];
    const agent = new Agent({ client, contextProviders, onLoadFailure: "continue" });
    await agent.run("u1", { session: agent.createSession() });
    expect(log).toEqual(["loading failedfalse", "other true"]);
    expect(shape(client.calls[0]?.messages ?? [])).toEqual(["user: u1"]);
  });

  it("is written down by a store that only writes", async () => {
    const audit = new HistoryProvider(new TestStore(), { sourceId: "audit", load: false });
    const fixture = await away(["a1"], { contextProviders: [audit] });
    await run(fixture, false);
    expect(await audit.getMessages(fixture.session())).toHaveLength(4);
  });
});

describe("A history that a run cannot do without", () => {
  const refusals: readonly { title: string; input: string | MessageInput[]; options?: AgentRunOptions }[] = [
    { title: "of a run that is named: it may have happened before", input: "u1", options: { runId: "r" } },
    {
      title: "of a run that answers a request for approval",
      input: [{ role: "user", contents: [{ type: "function_approval_response", id: "q", approved: true }] }],
    },
    {
      title: "of a run that answers a call",
      input: [{ role: "tool", contents: [{ type: "function_result", callId: "c", result: 1 }] }],
    },
  ];

  it.each(refusals)("ends the run: $title", async ({ input, options }) => {
    const fixture = await away(["never"]);
    expect(await failureOf(run(fixture, false, input, options))).toMatchObject({ code: "unavailable" });
    expect(fixture.client.calls).toHaveLength(1);
  });

  it("ends the run when it is there and damaged: that is no outage", async () => {
    const fixture = await away(["never"]);
    fixture.store.before = () => {
      throw new AgentFrameworkError("corrupt", "a record cannot be read");
    };
    expect(await failureOf(run(fixture, false))).toMatchObject({ code: "corrupt" });
    expect(fixture.client.calls).toHaveLength(1);
  });

  it("is refused as an option when it is none of the two", async () => {
    const wrong = JSON.parse('{"onLoadFailure":"ignore"}');
    expect(() => open([], wrong)).toThrow(/onLoadFailure/);
    expect(await failureOf(open([]).agent.run("x", wrong))).toMatchObject({ code: "configuration" });
  });
});
