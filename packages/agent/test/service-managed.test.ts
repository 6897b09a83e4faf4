import { AgentSession, type ChatUpdate, InMemoryHistoryProvider } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { Agent, type AgentResponse, type AgentRunOptions } from "../src/index.ts";
import { type Fixture, type FixtureOptions, failureOf, open } from "./fixture.ts";
import { type Answer, call, ScriptedClient, shape } from "./scripted-client.ts";

/** An answer of a service that keeps the conversation, or says that it does. */
function kept(text: string, conversationId = "conv"): Answer {
  return { pieces: [{ conversationId, contents: [{ type: "text", text }] }] };
}

/** A session as the next request of a web server gets it. */
function again(session: AgentSession): AgentSession {
  return AgentSession.fromJSON(JSON.stringify(session), { owner: "ann" });
}

/** Runs to the end, reading the stream piece by piece or not. */
async function go(agent: Agent, input: string, options: AgentRunOptions, isStreamed: boolean): Promise<AgentResponse> {
  const stream = agent.runStream(input, options);
  if (isStreamed) {
    for await (const _ of stream) {
      // What the pieces say is in the response too.
    }
  }
  return stream.finalResponse();
}

const storing = { client: { storesByDefault: true } } as const;
const look = { name: "look", parameters: { type: "object" }, execute: () => 1 };

/** How the turns of a test go on: with the session as it is or through JSON in between, streamed or not. */
interface Way {
  readonly isSerialized: boolean;
  readonly isStreamed: boolean;
}

/** Two turns; gives the requests. */
async function twoTurns(
  script: readonly Answer[],
  options: FixtureOptions,
  { isSerialized, isStreamed }: Way,
  session?: (fixture: Fixture) => AgentSession,
): Promise<Fixture & { last: AgentSession; requests: string[][]; ids: (string | undefined)[] }> {
  const fixture = open(script, options);
  const first = session?.(fixture) ?? fixture.session();
  await go(fixture.agent, "a", { session: first }, isStreamed);
  const last = isSerialized ? again(first) : first;
  await go(fixture.agent, "b", { session: last }, isStreamed);
  return {
    ...fixture,
    last,
    requests: fixture.client.calls.map(({ messages }) => shape(messages)),
    ids: fixture.client.calls.map(({ options: { conversationId } }) => conversationId),
  };
}

const WAYS: readonly Way[] = [false, true].flatMap((isSerialized) =>
  [false, true].map((isStreamed) => ({ isSerialized, isStreamed })),
);

describe.each(WAYS)("Two turns, serialized in between: $isSerialized, streamed: $isStreamed:", (way) => {
  const { isSerialized, isStreamed } = way;

  it("are loaded and stored here when the service keeps nothing, and no id is sent", async () => {
    const { requests, ids, last, stored } = await twoTurns(["one", "two"], {}, way);
    expect(requests[1]).toEqual(["user: a", "assistant: one", "user: b"]);
    expect(ids).toEqual([undefined, undefined]);
    expect(last.serviceSessionId).toBeUndefined();
    expect(await stored()).toHaveLength(4);
  });

  it("bind the session to the id that a keeping service gives, and nothing is loaded here any more", async () => {
    const result = await twoTurns([kept("one"), kept("two")], storing, way);
    expect(result.last.serviceSessionId).toBe("conv");
    expect(result.requests).toEqual([["user: a"], ["user: b"]]);
    expect(result.ids).toEqual([undefined, "conv"]);
    // Before the first turn it may have been here; from the second on it never is.
    expect(result.store.calls.filter(({ name }) => name === "read")).toHaveLength(1);
    // The local history is written as a record of what was said.
    expect(await result.stored()).toHaveLength(4);
  });

  it("send the id that the session names, and new input only", async () => {
    const result = await twoTurns(["one", "two"], storing, way, ({ agent }) =>
      agent.getSession({ sessionId: "s", serviceSessionId: "given", owner: "ann" }),
    );
    expect(result.requests).toEqual([["user: a"], ["user: b"]]);
    expect(result.ids).toEqual(["given", "given"]);
  });

  it("are kept here call by call without an id or a marker of ours on the session", async () => {
    const result = await twoTurns(
      [[call("1", "look")], "one", "two"],
      { tools: [look], historyPersistence: "per-service-call" },
      way,
    );
    expect(result.ids).toEqual([undefined, undefined, undefined]);
    expect(result.last.serviceSessionId).toBeUndefined();
    expect(result.last.toJSON().state).toEqual({});
    expect(result.requests[2]).toHaveLength(5);
  });

  it("are refused before anything happens when they would be kept in two places", async () => {
    const bound = (agent: Fixture["agent"]) => {
      const session = agent.getSession({ sessionId: "s", serviceSessionId: "conv", owner: "ann" });
      return isSerialized ? again(session) : session;
    };
    const { agent, client, store } = open(["one"], { historyPersistence: "per-service-call" });
    const attempts = [
      go(agent, "a", { session: bound(agent) }, isStreamed),
      go(agent, "a", { session: agent.createSession(), chatOptions: { conversationId: "conv" } }, isStreamed),
    ];
    for (const attempt of attempts) {
      expect(await failureOf(attempt)).toMatchObject({ code: "configuration", message: /historyPersistence/ });
    }
    expect([client.calls.length, store.calls.length]).toEqual([0, 0]);
  });

  it("may be written here call by call while a keeping service holds the conversation", async () => {
    const result = await twoTurns(
      ["one", [call("1", "look")], "two"],
      { ...storing, tools: [look], historyPersistence: "per-service-call" },
      way,
      ({ agent }) => agent.getSession({ sessionId: "s", serviceSessionId: "conv", owner: "ann" }),
    );
    expect(result.ids).toEqual(["conv", "conv", "conv"]);
    expect(result.requests).toEqual([["user: a"], ["user: b"], ["tool: result 1 1"]]);
    expect(result.store.calls.some(({ name }) => name === "read")).toBe(false);
    expect(await result.stored()).toHaveLength(6);
  });

  it("stay here when a service gives an id and does not keep the conversation", async () => {
    const result = await twoTurns([kept("one", "thread"), kept("two", "thread")], {}, way);
    expect(result.requests[1]).toEqual(["user: a", "assistant: one", "user: b"]);
    expect(result.ids).toEqual([undefined, undefined]);
    expect(result.last.serviceSessionId).toBeUndefined();
    expect(result.diagnostics.map(({ type }) => type)).toEqual(Array(2).fill("service_conversation_ignored"));
  });

  it("are refused when the options name another conversation than the session", async () => {
    const { agent, client, store } = open(["one"], storing);
    const session = agent.getSession({ sessionId: "s", serviceSessionId: "conv", owner: "ann" });
    const used = isSerialized ? again(session) : session;
    const error = await failureOf(
      go(agent, "a", { session: used, chatOptions: { conversationId: "other" } }, isStreamed),
    );
    expect(error).toMatchObject({ code: "configuration", message: expect.stringContaining("conversationId") });
    expect([client.calls.length, store.calls.length]).toEqual([0, 0]);
    await go(agent, "a", { session: used, chatOptions: { conversationId: "conv" } }, isStreamed);
  });
});

describe("A conversation that the service keeps", () => {
  it("is known to the session at once, also when a later call of the run fails", async () => {
    for (const historyPersistence of ["per-run", "per-service-call"] as const) {
      const first: ChatUpdate = { conversationId: "conv", contents: [call("1", "look")] };
      const { agent, session } = open([{ pieces: [first] }, { pieces: [], throws: new Error("down") }], {
        ...storing,
        tools: [look],
        historyPersistence,
      });
      const used = session();
      await failureOf(agent.run("a", { session: used }));
      expect(used.serviceSessionId).toBe("conv");
      expect(JSON.parse(JSON.stringify(used))).toMatchObject({ serviceSessionId: "conv" });
    }
  });

  it("gets only what is new in each call of the loop", async () => {
    const first: ChatUpdate = { conversationId: "conv", contents: [call("1", "look"), call("2", "look")] };
    const { agent, client, session } = open([{ pieces: [first] }, kept("done")], { ...storing, tools: [look] });
    await agent.run("a", { session: session() });
    expect(client.calls.map(({ messages }) => shape(messages))).toEqual([
      ["user: a"],
      ["tool: result 1 1", "tool: result 2 1"],
    ]);
  });

  it("follows an id that changes with every answer", async () => {
    const { agent, client, session } = open([kept("one", "resp_1"), kept("two", "resp_2"), "three"], storing);
    const used = session();
    for (const input of ["a", "b", "c"]) {
      await agent.run(input, { session: used });
    }
    expect(client.calls.map(({ options }) => options.conversationId)).toEqual([undefined, "resp_1", "resp_2"]);
  });

  it("is not begun when the run asks the service to keep nothing", async () => {
    const { agent, client, session } = open([kept("one"), "two"], storing);
    const used = session();
    for (const input of ["a", "b"]) {
      await agent.run(input, { session: used, chatOptions: { store: false } });
    }
    expect(used.serviceSessionId).toBeUndefined();
    expect(client.calls[1]?.messages).toHaveLength(3);
    expect(client.calls[1]?.options).toMatchObject({ store: false });
  });

  it("never gets local history of a run that waited while the session was bound", async () => {
    const { agent, client, session } = open([kept("one"), "two"], {});
    const used = session();
    await Promise.all([
      agent.run("a", { session: used, chatOptions: { store: true } }),
      agent.run("b", { session: used }),
    ]);
    expect(client.calls[1]?.options.conversationId).toBe("conv");
    expect(shape(client.calls[1]?.messages ?? [])).toEqual(["user: b"]);
  });

  it("without any session lasts for the run only", async () => {
    const first: ChatUpdate = { conversationId: "conv", contents: [call("1", "look")] };
    const { agent, client } = open([{ pieces: [first] }, kept("done"), kept("new")], { ...storing, tools: [look] });
    await agent.run("a");
    await agent.run("b");
    expect(client.calls.map(({ options }) => options.conversationId)).toEqual([undefined, "conv", undefined]);
  });

  it("leaves nothing of a local run behind: the history that a run without a provider gets is that run's alone", async () => {
    const client = new ScriptedClient(["here", kept("there")], storing.client);
    const agent = new Agent({ client });
    await agent.run("a", { session: agent.createSession(), chatOptions: { store: false } });
    const bound = agent.getSession({ serviceSessionId: "conv", owner: null });
    await agent.run("b", { session: bound });
    expect(bound.state).toEqual({});
    expect(agent.getProvider("in_memory")).toBeInstanceOf(InMemoryHistoryProvider);
  });

  it("is one session's matter: another session of the same agent keeps its history here", async () => {
    const client = new ScriptedClient([kept("there"), "here", kept("there again"), "here again"], {
      ...storing.client,
      isStrict: false,
    });
    const agent = new Agent({ client });
    const bound = agent.createSession();
    const local = agent.createSession();
    for (const _ of [1, 2]) {
      await agent.run("to the service", { session: bound });
      await agent.run("to us", { session: local, chatOptions: { store: false } });
    }
    expect(bound.serviceSessionId).toBe("conv");
    expect(local.serviceSessionId).toBeUndefined();
    expect(client.calls.map(({ messages }) => messages.length)).toEqual([1, 1, 1, 3]);
    expect(client.calls.map(({ options }) => options.conversationId)).toEqual([
      undefined,
      undefined,
      "conv",
      undefined,
    ]);
  });
});
