import { AgentSession, HistoryProvider, InMemoryHistoryProvider, type Message } from "@agentfw/core";
import { describe, expect, it } from "vitest";
import { Agent } from "../src/index.ts";
import { answer, bank } from "./bank.ts";
import { failureOf, open, TestStore } from "./fixture.ts";
import { KeepingService, restored } from "./keeping-service.ts";
import { type Answer, call, ScriptedClient, shape } from "./scripted-client.ts";

/** A conversation of one turn that is kept here, and an agent that goes on with it at a service. */
async function moved(service: KeepingService, script: readonly Answer[] = []) {
  const store = new TestStore();
  const { tools, ran } = bank();
  const provider = () => new HistoryProvider(store);
  const here = new Agent({
    client: new ScriptedClient(["hello", ...script]),
    contextProviders: [provider()],
    tools,
  });
  const session = here.createSession({ sessionId: "s", owner: "ann" });
  await here.run("a", { session });
  store.calls.length = 0;
  const diagnostics: string[] = [];
  const there = () =>
    new Agent({
      client: service,
      contextProviders: [provider()],
      tools,
      onDiagnostic: ({ type }) => diagnostics.push(type),
    });
  return { store, here, there, session, ran, diagnostics };
}

describe.each([true, false])("A conversation that goes from here to a service, in one there: %s", (isOne) => {
  it("is told to it whole, once, and is loaded no more", async () => {
    const service = new KeepingService(["one", "two"], isOne);
    const { there, session, store } = await moved(service);
    await there().run("b", { session });
    const next = restored(session);
    await there().run("c", { session: next });
    expect(service.lines).toEqual([["user: a", "assistant: hello", "user: b"], ["user: c"]]);
    expect(store.calls.filter(({ name }) => name === "read")).toHaveLength(1);
    // What is said is written down here all the same.
    expect(await new HistoryProvider(store).getMessages(next)).toHaveLength(6);
  });

  it("is told to it with its tool calls, which are settled", async () => {
    const service = new KeepingService(["one", [call("2", "look")], "two"], isOne);
    const { here, there, session } = await moved(service, [[call("1", "look")], "seen"]);
    await here.run("x", { session });
    await there().run("b", { session });
    await there().run("c", { session: restored(session) });
    expect(service.lines[0]).toHaveLength(7);
    expect(service.lines.map((lines) => lines.at(-1))).toEqual(["user: b", "user: c", 'tool: result 2 "look done"']);
    expect(session.state).toEqual({});
  });

  it("keeps its pending approval, which the service is told of when it is answered", async () => {
    const service = new KeepingService(["meanwhile", "paid"], isOne);
    const { here, there, session, ran } = await moved(service, [[call("1", "pay")]]);
    const { approvalRequests } = await here.run("pay", { session });
    await there().run("b", { session });
    const next = restored(session);
    const response = await there().run(answer(approvalRequests), { session: next });
    expect(response.text).toBe("paid");
    expect(ran).toEqual(["pay {}"]);
    expect(service.lines[1]).toHaveLength(2);
    expect(service.lines[1]?.[1]).toMatch(/^tool: result call_[0-9a-f]{32} "pay done"$/);
    expect(next.state).toEqual({});
  });

  it("is not begun there when it cannot be loaded here: the service would answer without it", async () => {
    const service = new KeepingService(["one"], isOne);
    const { there, session, store } = await moved(service);
    store.before = () => {
      throw new Error("down");
    };
    await failureOf(there().run("b", { session }));
    expect(service.requests).toEqual([]);
    expect(session.serviceSessionId).toBeUndefined();
  });
});

describe("A conversation that was kept in the session itself", () => {
  it("is told to the service whole, once, and the session's own copy grows no more", async () => {
    const service = new KeepingService(["one", "two"], false);
    const session = new AgentSession({ owner: "ann" });
    await new Agent({ client: new ScriptedClient(["hello"]) }).run("a", { session });
    const state = JSON.stringify(session.state);
    const there = new Agent({ client: service });
    await there.run("b", { session });
    await there.run("c", { session: restored(session) });
    expect(service.lines).toEqual([["user: a", "assistant: hello", "user: b"], ["user: c"]]);
    expect(JSON.stringify(session.state)).toBe(state);
  });
});

describe("A service that was to keep a conversation", () => {
  it("and gives no id to continue it is told the whole of it again, and that is reported", async () => {
    const { agent, client, session, diagnostics } = open(["one", "two"], { client: { storesByDefault: true } });
    const used = session();
    for (const input of ["a", "b"]) {
      await agent.run(input, { session: used });
    }
    expect(client.calls.map(({ messages }) => shape(messages))).toEqual([
      ["user: a"],
      ["user: a", "assistant: one", "user: b"],
    ]);
    expect(diagnostics.map(({ type }) => type)).toEqual(Array(2).fill("service_conversation_missing"));
  });

  it("is not said to have lost it when it was asked nothing", async () => {
    const { tools } = bank();
    const store = new TestStore();
    const contextProviders = [new HistoryProvider(store)];
    const here = new Agent({
      client: new ScriptedClient([[call("1", "pay"), call("2", "wire")]]),
      contextProviders,
      tools,
    });
    const session = here.createSession({ owner: "ann" });
    const { approvalRequests } = await here.run("pay", { session });
    const diagnostics: string[] = [];
    const onDiagnostic = ({ type }: { type: string }) => diagnostics.push(type);
    const there = new Agent({ client: new KeepingService([], true), contextProviders, tools, onDiagnostic });
    const response = await there.run(answer(approvalRequests.slice(1)), { session });
    expect(response.approvalRequests).toHaveLength(1);
    expect(diagnostics).toEqual([]);
  });

  it("keeps it alone when the agent has no history provider: nothing is written into the session", async () => {
    const service = new KeepingService(["one"], true);
    const agent = new Agent({ client: service });
    const session = agent.createSession();
    await agent.run("a", { session });
    expect(session.toJSON()).toMatchObject({ serviceSessionId: "conv_1", state: {} });
    const messages = await agent.getProvider(InMemoryHistoryProvider)?.getMessages(session);
    expect(messages).toEqual<Message[]>([]);
  });

  it("is announced once, however often the id changes", async () => {
    const service = new KeepingService(["one", "two"], false);
    const diagnostics: string[] = [];
    const agent = new Agent({ client: service, onDiagnostic: ({ type }) => diagnostics.push(type) });
    const session = agent.createSession();
    await agent.run("a", { session });
    await agent.run("b", { session });
    expect(diagnostics).toEqual(["service_conversation_started"]);
  });
});
