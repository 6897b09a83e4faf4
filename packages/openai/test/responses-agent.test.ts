import { Agent, type AgentOptions, type AgentResponse, type AgentRunOptions, tool } from "@agentfw/agent";
import { AgentSession, type Content, HistoryProvider, InMemoryHistoryStore, type MessagesInput } from "@agentfw/core";
import { asks, type ReceivedRequest, type ResponsesReply, says } from "@agentfw/test-servers/openai";
import { describe, expect, it } from "vitest";
import type { OpenAIResponsesSettings } from "../src/index.ts";
import { rejection } from "./helpers.ts";
import { clientOf, connectResponses, shapeOf } from "./responses-helpers.ts";

const INTERRUPTED = "The call was interrupted. Whether it took effect is unknown.";

/** How the turns of a test go on: streamed from the service or not, the session through JSON in between or not. */
const WAYS = [true, false].flatMap((streaming) => [true, false].map((isSerialized) => ({ streaming, isSerialized })));

interface Way {
  readonly streaming: boolean;
  readonly isSerialized: boolean;
}

/** A service, and the processes that talk to it one after another. */
async function world({ streaming, isSerialized }: Way, replies: readonly ResponsesReply[], settings: Settings = {}) {
  const { historyPersistence, provider, ...rest } = settings;
  const { server } = await connectResponses();
  server.reply(...replies);
  const store = new InMemoryHistoryStore();
  const ran: string[] = [];
  const look = tool({
    name: "look",
    parameters: { type: "object" },
    execute: () => {
      ran.push("look");
      return "seen";
    },
  });
  const pay = tool({
    name: "pay",
    parameters: { type: "object" },
    approval: "required",
    execute: () => {
      ran.push("pay");
      return "paid";
    },
  });
  const agent = () =>
    new Agent({
      client: clientOf(server, { streaming, ...rest }),
      contextProviders: [new HistoryProvider(store, provider)],
      tools: [look, pay],
      historyPersistence,
    });
  const turn = async (input: MessagesInput, session: AgentSession, options: AgentRunOptions = {}) => {
    const response: AgentResponse = await agent().run(input, { session, ...options });
    return { response, next: isSerialized ? restored(session) : session };
  };
  const stored = (session: AgentSession) => new HistoryProvider(store).getMessages(session);
  const session = agent().createSession({ sessionId: "s", owner: "ann" });
  return { server, agent, turn, stored, session, ran };
}

type Settings = Partial<OpenAIResponsesSettings> &
  Pick<AgentOptions, "historyPersistence"> & { readonly provider?: { readonly load?: boolean } };

function restored(session: AgentSession): AgentSession {
  return AgentSession.fromJSON(JSON.stringify(session), { owner: session.owner });
}

function continuations(requests: readonly ReceivedRequest[]): unknown[] {
  return requests.map(({ body }) => body["previous_response_id"] ?? body["conversation"]);
}

function shapes(requests: readonly ReceivedRequest[]): string[][] {
  return requests.map(({ body }) => shapeOf(body));
}

describe.each(WAYS)("two turns, streaming: $streaming, serialized in between: $isSerialized:", (way) => {
  it("are kept here when the service keeps nothing, with the encrypted reasoning, and no id is sent", async () => {
    const replies = [asks({ a: ["look", "{}"] }, "hm"), { items: [{ reasoning: "" }, { text: "one" }] }, says("two")];
    const { server, turn, session, stored } = await world(way, replies, { store: false });
    const { next } = await turn("a", session);
    await turn("b", next);
    expect(shapes(server.requests)[2]).toEqual([
      "user: a",
      "reasoning",
      "call a",
      "result a: seen",
      "reasoning",
      "assistant: one",
      "user: b",
    ]);
    expect(continuations(server.requests)).toEqual([undefined, undefined, undefined]);
    expect(next.serviceSessionId).toBeUndefined();
    expect(await stored(next)).toHaveLength(6);
  });

  it("go on behind the newest answer, whose id the session holds, and nothing else of it", async () => {
    const { server, turn, session, stored } = await world(way, [asks({ a: ["look", "{}"] }, "hm"), says("one")]);
    const { next } = await turn("a", session);
    const { serviceSessionId } = next;
    expect(next.toJSON()).toEqual({
      type: "agentfw.session",
      version: 1,
      sessionId: "s",
      serviceSessionId,
      owned: true,
      state: {},
    });
    await turn("b", next);
    expect(shapes(server.requests)).toEqual([["user: a"], ["result a: seen"], ["user: b"]]);
    expect(continuations(server.requests)).toEqual([undefined, expect.stringMatching(/^resp_1_/), serviceSessionId]);
    expect(server.kept(String(next.serviceSessionId)).length).toBeGreaterThan(0);
    expect(await stored(next)).toHaveLength(6);
  });

  it("are added to the conversation that the session names, new input only", async () => {
    const { server, turn, agent } = await world(way, [asks({ a: ["look", "{}"] }), says("one"), says("two")]);
    const conversation = server.createConversation();
    const bound = agent().getSession({ sessionId: "s", serviceSessionId: conversation, owner: "ann" });
    const { next } = await turn("a", bound);
    await turn("b", next);
    expect(next.serviceSessionId).toBe(conversation);
    expect(continuations(server.requests)).toEqual([conversation, conversation, conversation]);
    expect(shapes(server.requests)).toEqual([["user: a"], ["result a: seen"], ["user: b"]]);
    expect(server.kept(conversation)).toHaveLength(6);
  });

  it("are kept here call by call, without a marker that would be sent or saved", async () => {
    const settings = { store: false, historyPersistence: "per-service-call" } as const;
    const { server, turn, session } = await world(way, [asks({ a: ["look", "{}"] }), says("one")], settings);
    const { next } = await turn("a", session);
    await turn("b", next);
    expect(continuations(server.requests)).toEqual([undefined, undefined, undefined]);
    expect(next.toJSON()).toMatchObject({ state: {} });
    expect(next.serviceSessionId).toBeUndefined();
  });

  it("are refused when they would be kept in two places, before anything happens", async () => {
    const settings = { store: false, historyPersistence: "per-service-call" } as const;
    const { server, turn, agent, stored } = await world(way, [], settings);
    const bound = agent().getSession({ sessionId: "s", serviceSessionId: "resp_1", owner: "ann" });
    const used = way.isSerialized ? restored(bound) : bound;
    expect(await rejection(turn("a", used))).toMatchObject({ code: "configuration" });
    const fresh = agent().createSession({ sessionId: "s", owner: "ann" });
    const options = { chatOptions: { conversationId: "resp_1" } };
    expect(await rejection(turn("a", fresh, options))).toMatchObject({ code: "configuration" });
    expect(server.requests).toHaveLength(0);
    expect(await stored(fresh)).toEqual([]);
  });

  it("are written down here call by call while the service keeps them, and not loaded", async () => {
    const settings = { historyPersistence: "per-service-call" } as const;
    const { server, turn, agent, stored } = await world(way, [asks({ a: ["look", "{}"] }), says("one")], settings);
    const conversation = server.createConversation();
    const bound = agent().getSession({ sessionId: "s", serviceSessionId: conversation, owner: "ann" });
    const { next } = await turn("a", bound);
    await turn("b", next);
    expect(shapes(server.requests)).toEqual([["user: a"], ["result a: seen"], ["user: b"]]);
    expect(continuations(server.requests)).toEqual([conversation, conversation, conversation]);
    expect(await stored(next)).toHaveLength(6);
  });

  it("are refused when the options name another conversation than the session", async () => {
    const { server, turn, session } = await world(way, [says("one")]);
    const { next } = await turn("a", session);
    const failure = await rejection(turn("b", next, { chatOptions: { conversationId: "resp_other" } }));
    expect(failure).toMatchObject({ code: "configuration" });
    expect(server.requests).toHaveLength(1);
  });

  it("begin at the service with what was said here, when the first was not to be kept there", async () => {
    const replies = [{ items: [{ reasoning: "hm" }, { text: "one" }] }, says("two"), says("three")];
    const { server, turn, session } = await world(way, replies);
    const { next } = await turn("a", session, { chatOptions: { store: false } });
    const { next: last } = await turn("b", next);
    await turn("c", last);
    expect(shapes(server.requests).slice(1)).toEqual([
      ["user: a", "reasoning", "assistant: one", "user: b"],
      ["user: c"],
    ]);
  });
});

describe.each(WAYS)("a kept conversation, streaming: $streaming, serialized in between: $isSerialized:", (way) => {
  const answers = (response: AgentResponse, approved = true) => ({
    role: "user" as const,
    contents: response.approvalRequests.map(
      ({ id }): Content => ({ type: "function_approval_response", id, approved }),
    ),
  });

  it.each(["resp", "conv"])("waits for an approval, also while other things are said: %s", async (kind) => {
    const replies = [asks({ a: ["look", "{}"], b: ["pay", "{}"] }, "hm"), says("sunny"), says("paid")];
    const { server, turn, agent, ran } = await world(way, replies);
    const conversation = kind === "conv" ? server.createConversation() : undefined;
    const owner = "ann";
    const session =
      conversation === undefined
        ? agent().createSession({ owner })
        : agent().getSession({ serviceSessionId: conversation, owner });
    const { response, next } = await turn("go", session);
    const { next: later } = await turn("weather?", next);
    const { response: done, next: last } = await turn(answers(response), later);
    expect(done.text).toBe("paid");
    expect(ran).toEqual(["look", "pay"]);
    expect(last.state).toEqual({});
    expect(shapes(server.requests)[2]).toEqual([
      expect.stringMatching(/^call call_/),
      expect.stringMatching(/^call call_/),
      expect.stringMatching(/: seen$/),
      expect.stringMatching(/: paid$/),
    ]);
  });

  it.each([true, false])(
    "kept there or here, holds back a call and its reasoning, and keeps its text: %s",
    async (store) => {
      const asking = { items: [{ reasoning: "hm" }, { text: "I pay." }, ...asks({ a: ["pay", "{}"] }, "pay").items] };
      const { server, turn, session, ran } = await world(way, [asking, says("sunny"), says("paid")], { store });
      const { response, next } = await turn("go", session);
      const { next: later } = await turn("weather?", next);
      const { response: done } = await turn(answers(response), later);
      expect(done.text).toBe("paid");
      expect(ran).toEqual(["pay"]);
      expect(shapes(server.requests)[1]).toEqual(
        store
          ? ["result a: This call waits for a person to approve it. It has not run.", "user: weather?"]
          : ["user: go", "reasoning", "assistant: I pay.", "user: weather?"],
      );
    },
  );

  it("is told of a refusal", async () => {
    const { server, turn, session, ran } = await world(way, [asks({ a: ["pay", "{}"] }), says("a pity")]);
    const { response, next } = await turn("go", session);
    await turn(answers(response, false), next);
    expect(shapes(server.requests)[1]).toEqual(["result a: The user refused this call."]);
    expect(ran).toEqual([]);
  });

  it("goes on behind an answer whose tools were left", async () => {
    const { server, turn, agent, session, ran } = await world(way, [asks({ a: ["look", "{}"] }), says("fine")]);
    const controller = new AbortController();
    const reading = (async () => {
      for await (const update of agent().runStream("go", { session, signal: controller.signal })) {
        if (update.finishReason !== undefined) {
          controller.abort();
        }
      }
    })();
    await rejection(reading);
    await turn("what now?", restored(session));
    expect(shapes(server.requests)[1]).toEqual([`result a: ${INTERRUPTED}`, "user: what now?"]);
    expect(ran).toEqual([]);
  });

  it("goes on where it was when a process died before it could save the session", async () => {
    const { server, turn, agent, ran } = await world(way, [says("hello"), asks({ a: ["look", "{}"] })]);
    for (const conversation of [server.createConversation(), undefined]) {
      const session =
        conversation === undefined
          ? agent().createSession({ owner: "ann" })
          : agent().getSession({ serviceSessionId: conversation, owner: "ann" });
      server.reply(...(conversation === undefined ? [says("hello"), asks({ a: ["look", "{}"] })] : []));
      await turn("a", session);
      const saved = JSON.stringify(session);
      server.reply({ status: 500, body: {} });
      await rejection(turn("b", session));
      const { response } = await turn("c", AgentSession.fromJSON(saved, { owner: "ann" }));
      expect(response.text).toBe("Hello.");
      const isClosed = shapes(server.requests).at(-1)?.includes(`result a: ${INTERRUPTED}`);
      expect(isClosed).toBe(conversation !== undefined);
    }
    expect(ran).toEqual(["look", "look"]);
  });

  it("breaks off without harm: the next run goes on behind the last whole answer", async () => {
    const broken = { answer: says("half an answer that never ends"), delivery: { cutAfterBytes: 700 } };
    const { server, turn, session } = await world(way, [says("one"), broken]);
    const { next } = await turn("a", session);
    const { serviceSessionId } = next;
    expect(await rejection(turn("b", next))).toMatchObject({ code: "unavailable" });
    await turn("c", restored(next));
    expect(continuations(server.requests)).toEqual([undefined, serviceSessionId, serviceSessionId]);
    expect(shapes(server.requests)[2]).toEqual(["user: c"]);
  });

  it("is another's when the program says so, and nothing is sent", async () => {
    const { server, turn, session, agent } = await world(way, [says("one")]);
    const { next } = await turn("a", session);
    const owners = new Map([[next.serviceSessionId, "bob"]]);
    const guarded = new Agent({
      client: clientOf(server),
      verifyServiceSession: (id, owner) => owners.get(id) === owner,
    });
    const bound = agent().getSession({ serviceSessionId: next.serviceSessionId ?? "", owner: "ann" });
    expect(await rejection(guarded.run("b", { session: bound }))).toMatchObject({ code: "unauthorized" });
    expect(server.requests).toHaveLength(1);
  });
});

describe("a long conversation with reasoning that is kept here", () => {
  it.each([1, 2, 3, 5, 8, 13, 21])("is whole for the service however it is cut: %s messages", async (maxMessages) => {
    const { server } = await connectResponses(
      {},
      {
        respond: (_, count) =>
          count % 2 === 1
            ? asks({ [`c${count}`]: ["look", "{}"] }, "look")
            : { items: [{ reasoning: count % 3 === 0 ? "" : "say" }, { text: `answer ${count}` }] },
      },
    );
    const look = tool({ name: "look", parameters: { type: "object" }, execute: () => "seen" });
    const store = new InMemoryHistoryStore();
    const agent = new Agent({
      client: clientOf(server, { store: false }),
      tools: [look],
      contextProviders: [new HistoryProvider(store, { maxMessages })],
    });
    const session = agent.createSession({ owner: "ann" });
    for (const turn of [1, 2, 3, 4, 5, 6]) {
      const { text } = await agent.run(`turn ${turn}`, { session });
      expect(text).toBe(`answer ${2 * turn}`);
    }
    expect(server.requests).toHaveLength(12);
    expect(new Set(shapes(server.requests).flat()).has("reasoning")).toBe(true);
  });
});
